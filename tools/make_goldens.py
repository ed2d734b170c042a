#!/usr/bin/env python3
"""Computes the goldens of a model folder with transformers, in f32, from the exact values on disk.

Usage: python3 tools/make_goldens.py DIR [--out DIR/../golden] [--seed N]
       python3 tools/make_goldens.py DIR --check [--out GOLDEN]   compares; exits 1 if anything differs
Needs the packages of tools/tiny_models/requirements.txt.
"""

import argparse
import pathlib
import sys
import tempfile

import torch

from tiny_models import check, goldens
from tiny_models.open_model import open_model
from tiny_models.reference import reference_model


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1, help="of the prompts")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    path = arguments.out or arguments.folder.resolve().parent / "golden"
    model = open_model(arguments.folder)
    network = reference_model(model)
    if arguments.check:
        with tempfile.TemporaryDirectory() as scratch:
            found = check.check(model, network, path, pathlib.Path(scratch))
        for part, difference in found.items():
            print(f"{'differs' if difference > check.TOLERANCE else 'agrees '} {difference:9.2e} {part}")
        return int(max(found.values()) > check.TOLERANCE)
    golden = goldens.make_goldens(model, network, path, arguments.seed)
    for prompt in golden["prompts"]:
        stats = prompt["stats"]
        print(
            f"{prompt['name']}: logit std {stats['logit_std']:.2f}, least margin {stats['min_margin']:.3f}, f16 noise "
            f"{stats['f16_noise_prefill']:.4f}, {stats['usable']} of {stats['pool']} usable, "
            f"{stats['distinct']} distinct"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
