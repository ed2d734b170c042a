#!/usr/bin/env python3
"""Makes a tiny random model in the format in which a family is published.

Usage: python3 tools/make_tiny_models.py FAMILY --seed N --out DIR [--set key=value ...]
FAMILY: phi3, qwen3, qwen35 (MLC), qwen36, qwen36q3 (MLX), llama (GGUF, e.g. --set quant=Q4_K_M), qwen3-hf, llama-hf.
Needs the packages of tools/tiny_models/requirements.txt. Dimensions that --set does not give are drawn from the seed.
"""

import argparse
import json
import pathlib

from tiny_models.dims import FAMILIES, parse_settings
from tiny_models.make_model import make_model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--set", nargs="*", default=[], metavar="key=value", dest="settings")
    arguments = parser.parse_args()
    dims = make_model(arguments.family, arguments.seed, arguments.out, parse_settings(arguments.settings))
    print(json.dumps(dims))


if __name__ == "__main__":
    main()
