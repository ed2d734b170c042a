#!/usr/bin/env python3
"""Runs clang-tidy over the C++ files (tests apart) whose text, headers or checks changed since they last passed.

A file's fingerprint covers .clang-tidy and every project header that it reaches; fingerprints of files that passed
are kept in .cache/tidy. After --seconds no further file is begun: the files left are named, and come first next time.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "tidy"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def reach(path: pathlib.Path, seen: set[pathlib.Path]) -> None:
    """Adds `path` and all project headers that it includes, directly or not."""
    if path in seen or not path.is_file():
        return
    seen.add(path)
    for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        reach(ROOT / "src" / name, seen)


def fingerprint(path: pathlib.Path) -> str:
    files: set[pathlib.Path] = set()
    reach(path, files)
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def sources(build: pathlib.Path) -> list[pathlib.Path]:
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    files = {pathlib.Path(entry["file"]).resolve() for entry in entries}
    return sorted(file for file in files if ROOT / "src" in file.parents and not file.stem.endswith("_test"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clang-tidy", default="clang-tidy-19")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "tidy")
    parser.add_argument("--seconds", type=float, default=240)
    options = parser.parse_args()
    deadline = time.monotonic() + options.seconds
    CACHE.mkdir(parents=True, exist_ok=True)

    def check(path: pathlib.Path) -> str:
        """"kept", "passed", "left", or what clang-tidy complains of."""
        stamp = CACHE / str(path.relative_to(ROOT)).replace("/", "+")
        print_of_file = fingerprint(path)
        if stamp.is_file() and stamp.read_text() == print_of_file:
            return "kept"
        if time.monotonic() > deadline:
            return "left"
        done = subprocess.run([options.clang_tidy, "-p", options.build, "--quiet", "--warnings-as-errors=*", path],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return done.stdout + done.stderr
        stamp.write_text(print_of_file)
        return "passed"

    files = sources(options.build)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = dict(zip(files, pool.map(check, files)))
    complaints = [text for text in results.values() if text not in {"kept", "passed", "left"}]
    left = [str(path.relative_to(ROOT)) for path, text in results.items() if text == "left"]
    count = list(results.values()).count
    print("\n".join(complaints))
    print(f"clang-tidy: {count('passed')} files passed, {count('kept')} unchanged since they passed, "
          f"{len(complaints)} with complaints, {len(left)} left for the next run{': ' if left else '.'}{' '.join(left)}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
