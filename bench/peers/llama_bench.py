"""What the peers of llama.cpp share: find `llama-bench`, run it, and tell its figures as `zerotvm bench --compare`
reads them.

A peer is a program that takes --model PATH or --random ALIAS [--layers N], --prompt-tokens N, --gen-tokens N,
--depths A,B,..., --repeat N, and prints one JSON object on stdout:
  {"peer": NAME, "unavailable": REASON}                 it cannot run here
  {"peer": NAME, "device": D}                           with --prepare, which measures nothing
  {"peer": NAME, "device": D, "version": V, "command": C, "prefill": {"n_tokens": N, "tokens_per_s": [...]},
   "decode": [{"depth": D, "tokens_per_s": [...]}, ...]}
Anything that fails ends it with exit code 1 and says on stderr what.
"""
import argparse
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

import random_gguf

N_ERROR_LINES = 5


class Unavailable(Exception):
    pass


class Failed(Exception):
    pass


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--model", type=pathlib.Path)
    which.add_argument("--random", metavar="ALIAS")
    parser.add_argument("--layers", type=int, default=0)
    parser.add_argument("--prompt-tokens", type=int, default=512)
    parser.add_argument("--gen-tokens", type=int, default=128)
    parser.add_argument("--depths", default="0,128,2048")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--prepare", action="store_true", help="only make sure that the peer can run")
    return parser.parse_args()


def find_program(variable: str) -> str:
    named = os.environ.get(variable)
    if named:
        path = shutil.which(named)
        if path is None:
            raise Unavailable(f'{variable} is "{named}", which is no program')
        return path
    path = shutil.which("llama-bench")
    if path is None:
        raise Unavailable(f"{variable} names no llama-bench, and there is none in PATH")
    return path


def last_lines(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-N_ERROR_LINES:])


def run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess:
    """The caller limits the time, and stops this program and its children together."""
    done = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        told = last_lines(done.stderr) or last_lines(done.stdout) or "no output"
        raise Failed(f"{shlex.join(command)} ends with {done.returncode}: {told}")
    return done


def find_device(program: str, device_prefix: str, environment: dict[str, str]) -> tuple[str, str]:
    """Label and name of a backend's first device, as --list-devices tells it: "  CUDA0: NVIDIA H200 (... MiB)"."""
    listed = run([program, "--list-devices"], environment)
    for line in listed.stdout.splitlines():
        label, _, device = line.strip().partition(": ")
        if label.startswith(device_prefix) and device:
            return label, device.rpartition(" (")[0] or device
    raise Unavailable(f"{program} finds no {device_prefix} device: {last_lines(listed.stderr)}")


def find_model(options: argparse.Namespace) -> pathlib.Path:
    if options.random:
        if options.random not in random_gguf.SHAPES:
            raise Unavailable(f'random_gguf.py has no shape of "{options.random}"')
        return random_gguf.ensure(options.random, options.layers)
    if options.model.suffix != ".gguf":
        raise Unavailable(f'llama.cpp reads .gguf files alone, not "{options.model}"')
    return options.model


def measure(command: list[str], environment: dict[str, str], device_prefix: str) -> list[dict]:
    """The records of one llama-bench run, one a test."""
    output = run(command, environment).stdout
    records = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    for record in records:
        # Where a backend does not load, it falls back to the CPU, which must never pass for the device's speed.
        if device_prefix.lower() not in record["backends"].lower():
            raise Failed(f'{shlex.join(command)} ran on "{record["backends"]}" instead of {device_prefix}')
    return records


def rates(record: dict, n_tokens: int) -> list[float]:
    return [1e9 * n_tokens / ns for ns in record["samples_ns"]]


def figures(options: argparse.Namespace, base: list[str], environment: dict[str, str], device_prefix: str) -> dict:
    prefill_command = [*base, "-p", str(options.prompt_tokens), "-n", "0", "-d", "0"]
    decode_command = [*base, "-p", "0", "-n", str(options.gen_tokens), "-d", options.depths]
    prefill = measure(prefill_command, environment, device_prefix)
    decode = measure(decode_command, environment, device_prefix)
    wanted = [int(depth) for depth in options.depths.split(",")]
    if len(prefill) != 1 or [record["n_depth"] for record in decode] != wanted:
        raise Failed(f"{shlex.join(decode_command)} tells other tests than those asked for")
    return {
        "version": f'{prefill[0]["build_commit"]} ({prefill[0]["build_number"]})',
        "command": shlex.join(decode_command),
        "prefill": {"n_tokens": options.prompt_tokens, "tokens_per_s": rates(prefill[0], options.prompt_tokens)},
        "decode": [
            {"depth": record["n_depth"], "tokens_per_s": rates(record, options.gen_tokens)} for record in decode
        ],
    }


def main(name: str, variable: str, device_prefix: str, environment: dict[str, str]) -> int:
    """`device_prefix` as llama-bench labels the backend's devices; empty: the CPU."""
    options = parse_options()
    try:
        program = find_program(variable)
        label, device = find_device(program, device_prefix, environment) if device_prefix else ("none", "CPU")
        model = find_model(options)
        answer = {"peer": name, "device": device}
        if not options.prepare:
            n_layers = "99" if device_prefix else "0"
            base = [program, "-m", str(model), "-dev", label, "-ngl", n_layers, "-fa", "1"]
            base += ["-r", str(options.repeat), "-o", "jsonl"]
            answer |= figures(options, base, environment, device_prefix)
    except Unavailable as why:
        answer = {"peer": name, "unavailable": str(why)}
    except (Failed, OSError, ValueError, KeyError) as error:
        print(error if isinstance(error, Failed) else f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    print(json.dumps(answer))
    return 0
