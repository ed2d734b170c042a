# Sourced by ./run and ./test: paths, versions, and a line of progress for each long step.
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD
log_dir=$root/.cache/logs
mkdir -p "$log_dir"
# shellcheck source=tools/versions.env
source tools/versions.env

# One clone's objects serve the next: paths count from its root, and precompiled headers by their content.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
# Mesa and the browsers want a private folder for their sockets; containers often have none.
if [[ -z ${XDG_RUNTIME_DIR:-} ]]; then
  export XDG_RUNTIME_DIR=$root/.cache/xdg
  mkdir -p "$XDG_RUNTIME_DIR"
  chmod 700 "$XDG_RUNTIME_DIR"
fi

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# show_progress NAME LOG: keeps one terminal line with the elapsed time and the last line of the log.
show_progress() {
  local name=$1 log=$2 start=$SECONDS last
  while sleep 1 && kill -0 $$ 2>/dev/null; do
    last=$(tail -c 400 "$log" | tr '\r\033' '\n?' | grep -v '^[[:space:]]*$' | tail -n 1 || true)
    printf '\r\033[K  .. %-28s %4d s  %.60s' "$name" $((SECONDS - start)) "$last"
  done
}

# try_step NAME COMMAND...: runs the command with its output in a log and says how long it took.
# On failure it shows the end of the log and returns the command's status.
try_step() {
  local name=$1
  shift
  local log=$log_dir/${name//[^a-zA-Z0-9]/_}.log start=$SECONDS ticker='' status=0
  : >"$log"
  if [[ -t 1 ]]; then
    show_progress "$name" "$log" &
    ticker=$!
  else
    printf '  .. %s\n' "$name"
  fi
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if [[ -n $ticker ]]; then
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
    printf '\r\033[K'
  fi
  if ((status == 0)); then
    printf '  ok %-28s %4d s\n' "$name" $((SECONDS - start))
  else
    printf 'FAIL %-28s %4d s  (exit code %d; the end of %s follows)\n' "$name" $((SECONDS - start)) "$status" "$log"
    tail -n 60 "$log"
  fi
  return "$status"
}

# step NAME COMMAND...: try_step, and the end of the script on failure.
step() {
  try_step "$@" || fail "The step \"$1\" failed; its whole output is in $log_dir."
}

# fetch_wheel PACKAGE VERSION DIR: downloads one wheel by name with pip; prints its path.
fetch_wheel() {
  local package=$1 version=$2 dir=$3
  rm -rf "$dir"
  mkdir -p "$dir"
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --dest "$dir" \
    "$package==$version" >&2
  local wheels=("$dir"/*.whl)
  [[ -f ${wheels[0]} ]] || { echo "pip left no wheel of $package $version in $dir." >&2; return 1; }
  printf '%s\n' "${wheels[0]}"
}

# has_sha256 FILE SHA256
has_sha256() {
  [[ -f $1 && $(sha256sum "$1" | cut -d' ' -f1) == "$2" ]]
}
