# Sourced by ./test: runs checks and test runners, and adds up their cases.
passed=0
failed=0
skipped=0
result_dir=$root/.cache/results

# add_counts PASSED FAILED SKIPPED
add_counts() {
  passed=$((passed + $1))
  failed=$((failed + $2))
  skipped=$((skipped + $3))
}

# run_case NAME COMMAND...: a check that is one case.
run_case() {
  if try_step "$@"; then
    add_counts 1 0 0
  else
    add_counts 0 1 0
  fi
}

# run_counted NAME REPORT COMMAND...: a runner that leaves its counts in REPORT. A runner that dies before it
# writes the report, fails without a failed case, or runs no case at all counts as one failure.
run_counted() {
  local name=$1 report=$2 status=0 counts
  shift 2
  rm -f "$report"
  mkdir -p "$result_dir"
  try_step "$name" "$@" || status=$?
  counts=$(python3 tools/ci/count_results.py "$report") || counts=""
  if [[ -z $counts ]]; then
    echo "FAIL $name: no case ran to its end."
    counts="0 1 0"
  elif ((status != 0)) && [[ $counts == *" 0 "* ]]; then
    counts="${counts%% *} 1 ${counts##* }"
  fi
  read -r n_passed n_failed n_skipped <<<"$counts"
  echo "     $n_passed passed, $n_failed failed, $n_skipped skipped"
  add_counts "$n_passed" "$n_failed" "$n_skipped"
}

# run_gtest NAME SECONDS BINARY [FILTER [TOGETHER]]: in two processes, because much of a test uses one core. Of all tests (FILTER
# is '*') those that match TOGETHER share one process, and what they load; without it, both have every second test.
run_gtest() {
  local report=$result_dir/${1//[^a-zA-Z0-9]/_}.json
  run_counted "$1" "$report" run_shards "$report" "${4-*}" "${5-}" timeout "$2" "$3" --gtest_brief=1
}

# run_shards REPORT FILTER TOGETHER COMMAND...: halves of a GoogleTest binary's tests side by side; REPORT is a list of their
# reports. Each half is the other's complement, so that no test is in neither.
run_shards() {
  local report=$1 filters=("$2" "$2") n_shards=2 status=0 shard shards=()
  [[ -n $3 ]] && filters=("$3" "$2-$3") n_shards=1
  shift 3
  for shard in 0 1; do
    GTEST_TOTAL_SHARDS=$n_shards GTEST_SHARD_INDEX=$((shard % n_shards)) "$@" "--gtest_filter=${filters[shard]}" \
      "--gtest_output=json:$report.$shard" >"$report.$shard.log" 2>&1 &
    shards+=($!)
  done
  for shard in 0 1; do
    wait "${shards[shard]}" || status=$?
    cat "$report.$shard.log"
  done
  # A shard that died has left none, and the whole counts as failed.
  if [[ -s $report.0 && -s $report.1 ]]; then
    printf '[%s,%s]\n' "$(cat "$report.0")" "$(cat "$report.1")" >"$report"
  fi
  rm -f "$report".[01] "$report".[01].log
  return "$status"
}

# run_node_tests NAME SECONDS N FILE...: N files at a time.
run_node_tests() {
  local report=$result_dir/${1//[^a-zA-Z0-9]/_}.tap name=$1 seconds=$2 n_at_once=$3
  shift 3
  run_counted "$name" "$report" timeout "$seconds" node --test "--test-concurrency=$n_at_once" \
    --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=tap "--test-reporter-destination=$report" "$@"
}

# fuzz BINARY_DIR SECONDS NAME: the target starts from its seeds in tests/fuzz/corpus, if it has some.
fuzz() {
  local found=$root/.cache/fuzz/$3 seeds=()
  mkdir -p "$found"
  [[ -d tests/fuzz/corpus/${3%_fuzz} ]] && seeds=("tests/fuzz/corpus/${3%_fuzz}")
  "$1/$3" -max_total_time="$2" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 "-artifact_prefix=$found." \
    "$found" "${seeds[@]}"
}

# end_of PID LOG: waits, shows the log, and returns the status of PID.
end_of() {
  local status=0
  wait "$1" || status=$?
  cat "$2"
  return "$status"
}

# run_fuzzers BINARY_DIR SECONDS: two targets at a time, each of which uses one core.
run_fuzzers() {
  local names=(tests/fuzz/*_fuzz.cpp) i name
  local -A pids=()
  names=("${names[@]##*/}")
  names=("${names[@]%.cpp}")
  for ((i = 0; i < ${#names[@]}; i += 2)); do
    for name in "${names[@]:i:2}"; do
      mkdir -p "$root/.cache/fuzz"
      fuzz "$1" "$2" "$name" >"$root/.cache/fuzz/$name.log" 2>&1 </dev/null &
      pids[$name]=$!
    done
    for name in "${names[@]:i:2}"; do
      run_case "fuzz ${name%_fuzz}" end_of "${pids[$name]}" "$root/.cache/fuzz/$name.log"
    done
  done
}

format_check() {
  find src tests \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' \) -print0 |
    xargs -0 "clang-format-$LLVM_VERSION" --dry-run -Werror
}

# print_total SECONDS: the closing line; fails unless everything passed.
print_total() {
  echo "Took $(($1 / 60)) min $(($1 % 60)) s."
  if ((skipped > 0)); then
    echo "$passed passed, $failed failed, $skipped skipped"
  else
    echo "$passed passed, $failed failed"
  fi
  ((failed == 0 && passed > 0))
}
