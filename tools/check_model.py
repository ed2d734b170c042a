#!/usr/bin/env python3
"""Compares the program with a golden folder: logits, hidden states and greedy ids of every prompt.

    tools/check_model.py MODEL GOLDEN [--program build/release/zerotvm] [-- options of the program...]

GOLDEN is a folder as tools/make_goldens.py writes it. Prints, per prompt, the relative L2 error of the logits, the
largest difference in standard deviations, and how many greedy ids agree before the first whose margin is small.
Exit code 1 when logits are off by more than --tolerance deviations, or a decided id differs.
"""
import argparse
import array
import json
import math
import pathlib
import subprocess
import sys
import tempfile


def read_floats(path):
    values = array.array("f")
    values.frombytes(pathlib.Path(path).read_bytes())
    return values


def call(program, arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{program} {' '.join(arguments)[:200]}: {done.stderr.strip()}")
    return done.stdout


def compare_logits(got, want):
    mean = sum(want) / len(want)
    deviation = math.sqrt(sum((w - mean) ** 2 for w in want) / len(want))
    largest = max(abs(g - w) for g, w in zip(got, want)) / deviation
    norm = math.sqrt(sum(w * w for w in want))
    return math.sqrt(sum((g - w) ** 2 for g, w in zip(got, want))) / norm, largest


def check_prompt(args, prompt, folder, golden):
    ids = ",".join(map(str, prompt["ids"]))
    out = pathlib.Path(folder) / "logits.bin"
    call(args.program, ["logits", args.model, "--ids", ids, "--out", str(out), *args.options])
    got = read_floats(out)
    want = read_floats(golden / prompt["last_logits"]["file"])
    if len(got) != len(want):
        sys.exit(f"{prompt['name']}: {len(got)} logits, expected {len(want)}.")
    relative, largest = compare_logits(got, want)
    tokens, margins = prompt["greedy"]["tokens"], prompt["greedy"]["margins"]
    reply = call(args.program, ["run", args.model, "--ids", ids, "--max-tokens", str(len(tokens)), "--temperature", "0",
                                "--ignore-eos", "--json", *args.options])
    output = json.loads(reply)["output_ids"]
    agree = next((i for i, (a, b) in enumerate(zip(output, tokens)) if a != b), len(tokens))
    decided = next((i for i, m in enumerate(margins) if m < args.margin), len(margins))
    good = largest < args.tolerance and agree >= min(decided, len(tokens))
    print(f"{prompt['name']:>6}: relative L2 {relative:.2e}, largest {largest:.2e} deviations, "
          f"{agree} of {len(tokens)} ids agree ({decided} decided){'' if good else '  WRONG'}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("golden", type=pathlib.Path)
    parser.add_argument("--program", default="build/release/zerotvm")
    parser.add_argument("--tolerance", type=float, default=2e-3, help="in standard deviations of the logits")
    parser.add_argument("--margin", type=float, default=0.02, help="ids beyond a smaller margin are not compared")
    parser.add_argument("options", nargs="*", help="passed on, after --")
    args = parser.parse_args()
    golden = json.loads((args.golden / "golden.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        results = [check_prompt(args, prompt, folder, args.golden) for prompt in golden["prompts"]]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
