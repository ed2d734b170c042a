#!/usr/bin/env python3
"""Prints "PASSED FAILED SKIPPED" of a report: a list of GoogleTest's JSON, or node's TAP. Fails if no case ran."""
import json
import re
import sys


def count_gtest(text: str) -> tuple[int, int, int]:
    passed = failed = skipped = 0
    for shard in json.loads(text):
        for case in (case for suite in shard["testsuites"] for case in suite["testsuite"]):
            if case.get("failures"):
                failed += 1
            elif case["status"] != "RUN" or case["result"] == "SKIPPED":
                skipped += 1
            else:
                passed += 1
    return passed, failed, skipped


def count_tap(text: str) -> tuple[int, int, int]:
    def total(*words: str) -> int:
        found = [re.search(rf"^# {word} (\d+)$", text, re.MULTILINE) for word in words]
        return sum(int(match.group(1)) for match in found if match)

    return total("pass"), total("fail", "cancelled"), total("skipped", "todo")


def main() -> int:
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            text = file.read()
        passed, failed, skipped = (count_gtest if sys.argv[1].endswith(".json") else count_tap)(text)
    except (OSError, ValueError, KeyError) as error:
        print(f"{sys.argv[1]}: {error}", file=sys.stderr)
        return 1
    if passed + failed + skipped == 0:
        print(f"{sys.argv[1]} holds no case.", file=sys.stderr)
        return 1
    print(passed, failed, skipped)
    return 0


if __name__ == "__main__":
    sys.exit(main())
