# Sourced by ./run and ./test: builds. Every one is a no-op when nothing changed.

# build_native PRESET TARGET...: configures once, then lets Ninja find out what is old.
build_native() {
  local preset=$1
  shift
  [[ build/$preset/build.ninja -nt CMakePresets.json ]] || cmake --preset "$preset" || return
  cmake --build "build/$preset" --target "$@"
}

# hash_of PATH...: one hash over the names and contents of all files below, ignoring what tools generate.
hash_of() {
  find "$@" \( -name node_modules -o -name dist \) -prune -o -type f -print0 | sort -z | xargs -0 sha256sum |
    sha256sum | cut -d' ' -f1
}

# is_current STAMP HASH / mark_current STAMP HASH: whether a product was made from inputs with this hash.
is_current() { [[ -f $root/.cache/stamps/$1 && $(<"$root/.cache/stamps/$1") == "$2" ]]; }
mark_current() {
  mkdir -p "$root/.cache/stamps"
  printf '%s' "$2" >"$root/.cache/stamps/$1"
}

setup_npm() {
  local hash
  hash=$(hash_of web/package.json web/package-lock.json)
  [[ -d web/node_modules ]] && is_current npm "$hash" && return
  step "npm packages" npm --prefix web ci --no-audit --no-fund
  mark_current npm "$hash"
}

# The wasm module is an input of the site, so it is hashed with web/ (CMake puts it into web/public/engine).
build_site() {
  local hash
  hash=$(hash_of web)
  [[ -f web/dist/index.html ]] && is_current site "$hash" && return
  step "web site" npm --prefix web run build
  mark_current site "$hash"
}

build_web() {
  step "build wasm" build_native wasm all
  setup_npm
  build_site
}
