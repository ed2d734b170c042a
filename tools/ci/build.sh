# Sourced by ./run and ./test: builds. Every one is a no-op when nothing changed.

# build_preset PRESET TARGET...: configures once, then lets Ninja find out what is old.
build_preset() {
  local preset=$1
  shift
  [[ build/$preset/build.ninja -nt CMakePresets.json ]] || cmake --preset "$preset" || return
  cmake --build "build/$preset" --target "$@"
}

# prepare_tidy: what clang-tidy needs to read each file by itself.
prepare_tidy() {
  build_preset tidy CMakeFiles/ztvm_core.dir/cmake_pch.hxx.pch CMakeFiles/ztvm_apps.dir/cmake_pch.hxx.pch
}

# hash_of PATH...: one hash over the names and contents of all files below, ignoring what tools generate.
hash_of() {
  find "$@" \( -name node_modules -o -name dist \) -prune -o -type f -print0 | sort -z | xargs -0 sha256sum |
    sha256sum | cut -d' ' -f1
}

# is_current STAMP HASH, mark_current STAMP HASH: whether a product was made from inputs with this hash.
is_current() { [[ -f $root/.cache/stamps/$1 && $(<"$root/.cache/stamps/$1") == "$2" ]]; }
mark_current() {
  mkdir -p "$root/.cache/stamps"
  printf '%s' "$2" >"$root/.cache/stamps/$1"
}

# setup_npm FOLDER: the packages of its lock file.
setup_npm() {
  local hash
  hash=$(hash_of "$1/package.json" "$1/package-lock.json")
  [[ -d $1/node_modules ]] && is_current "npm ${1//\//_}" "$hash" && return
  step "npm packages of $1" npm --prefix "$1" ci --no-audit --no-fund
  mark_current "npm ${1//\//_}" "$hash"
}

# build_pages NAME SCRIPT PRODUCT INPUT...: runs a script of web/package.json unless PRODUCT was made from these inputs.
build_pages() {
  local name=$1 script=$2 product=$3 hash
  shift 3
  hash=$(hash_of "$@")
  [[ -e $product ]] && is_current "$name" "$hash" && return
  step "$name" npm --prefix web run "$script"
  mark_current "$name" "$hash"
}

build_web() {
  step "build wasm" build_preset wasm all
  setup_npm web
  build_pages "web site" build web/dist/index.html web build/wasm/zerotvm.wasm
}

build_browser_tests() {
  setup_npm tests/browser
  build_pages "pages of browser tests" build:tests build/browser-tests web tests/browser build/wasm/zerotvm.wasm
}
