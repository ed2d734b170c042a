#!/usr/bin/env python3
"""Writes a GGUF of a published shape with random weights, as `zerotvm bench --random ALIAS` has them: matrices,
embedding and head in Q4_0, norms and routers in f32. Needs nothing but Python.

Usage: random_gguf.py ALIAS [--layers N] [--cache FOLDER]    prints the file's path; a file that is there is kept
"""
import argparse
import array
import os
import pathlib
import random
import struct
import sys

F32, Q4_0 = 0, 2  # types of tensors in a GGUF
BLOCK_VALUES, BLOCK_BYTES = 32, 18  # of Q4_0: an f16 scale, then 16 bytes of nibbles
ALIGNMENT = 32
POOL_BLOCKS = 1 << 20  # what a weight is does not matter, where it lies does: each matrix repeats one pool
DEFAULT_CACHE = pathlib.Path(__file__).resolve().parents[2] / ".cache/peers/random"

# The dimensions of src/engine/true_shapes.cpp.
SHAPES = {
    "phi3": dict(arch="phi3", layers=32, dim=3072, heads=32, kv_heads=32, head_dim=96, ffn=8192, vocab=32064,
                 rope=1e4, eps=1e-5, context=4096, tied=False),
    "qwen3": dict(arch="qwen3", layers=36, dim=2560, heads=32, kv_heads=8, head_dim=128, ffn=9728, vocab=151936,
                  rope=1e6, eps=1e-6, context=40960, tied=True),
    "smollm2": dict(arch="llama", layers=30, dim=576, heads=9, kv_heads=3, head_dim=64, ffn=1536, vocab=49152,
                    rope=1e5, eps=1e-5, context=8192, tied=True),
    "qwen35": dict(arch="qwen35", layers=32, dim=2560, heads=16, kv_heads=4, head_dim=256, ffn=9216, vocab=248320,
                   rope=1e7, eps=1e-6, context=262144, tied=True, interval=4, key_heads=16, value_heads=32,
                   state_dim=128, conv=4),
    "qwen36": dict(arch="qwen35moe", layers=40, dim=2048, heads=16, kv_heads=2, head_dim=256, ffn=512, vocab=248320,
                   rope=1e7, eps=1e-6, context=262144, tied=False, interval=4, key_heads=16, value_heads=32,
                   state_dim=128, conv=4, experts=256, top_k=8),
}  # fmt: skip


def attention_tensors(shape: dict):
    """(name, dims with the contiguous one first, type); the same for the other lists."""
    dim, head_dim = shape["dim"], shape["head_dim"]
    q_rows, kv_rows = shape["heads"] * head_dim, shape["kv_heads"] * head_dim
    if shape["arch"] == "phi3":
        yield "attn_qkv.weight", (dim, q_rows + 2 * kv_rows), Q4_0
    else:
        gated = 2 if "interval" in shape else 1  # the hybrids' query has a gate beside it
        yield "attn_q.weight", (dim, gated * q_rows), Q4_0
        yield "attn_k.weight", (dim, kv_rows), Q4_0
        yield "attn_v.weight", (dim, kv_rows), Q4_0
    if shape["arch"].startswith("qwen3"):
        yield "attn_q_norm.weight", (head_dim,), F32
        yield "attn_k_norm.weight", (head_dim,), F32
    yield "attn_output.weight", (q_rows, dim), Q4_0


def delta_net_tensors(shape: dict):
    dim, state_dim, value_heads = shape["dim"], shape["state_dim"], shape["value_heads"]
    value_rows = value_heads * state_dim
    channels = 2 * shape["key_heads"] * state_dim + value_rows
    yield "attn_qkv.weight", (dim, channels), Q4_0
    yield "attn_gate.weight", (dim, value_rows), Q4_0
    yield "ssm_conv1d.weight", (shape["conv"], channels), F32
    yield "ssm_dt.bias", (value_heads,), F32
    yield "ssm_a", (value_heads,), F32
    yield "ssm_beta.weight", (dim, value_heads), Q4_0
    yield "ssm_alpha.weight", (dim, value_heads), Q4_0
    yield "ssm_norm.weight", (state_dim,), F32
    yield "ssm_out.weight", (value_rows, dim), Q4_0


def ffn_tensors(shape: dict):
    dim, ffn = shape["dim"], shape["ffn"]
    if "experts" in shape:
        experts = shape["experts"]
        yield "ffn_gate_inp.weight", (dim, experts), F32
        yield "ffn_gate_exps.weight", (dim, ffn, experts), Q4_0
        yield "ffn_up_exps.weight", (dim, ffn, experts), Q4_0
        yield "ffn_down_exps.weight", (ffn, dim, experts), Q4_0
        yield "ffn_gate_inp_shexp.weight", (dim,), F32
        yield "ffn_gate_shexp.weight", (dim, ffn), Q4_0
        yield "ffn_up_shexp.weight", (dim, ffn), Q4_0
        yield "ffn_down_shexp.weight", (ffn, dim), Q4_0
    elif shape["arch"] == "phi3":
        yield "ffn_up.weight", (dim, 2 * ffn), Q4_0
        yield "ffn_down.weight", (ffn, dim), Q4_0
    else:
        yield "ffn_gate.weight", (dim, ffn), Q4_0
        yield "ffn_up.weight", (dim, ffn), Q4_0
        yield "ffn_down.weight", (ffn, dim), Q4_0


def tensors(shape: dict):
    dim, vocab, interval = shape["dim"], shape["vocab"], shape.get("interval", 1)
    yield "token_embd.weight", (dim, vocab), Q4_0
    for layer in range(shape["layers"]):
        is_attention = (layer + 1) % interval == 0
        second_norm = "post_attention_norm.weight" if "interval" in shape else "ffn_norm.weight"
        parts = [("attn_norm.weight", (dim,), F32), (second_norm, (dim,), F32)]
        parts += (attention_tensors if is_attention else delta_net_tensors)(shape)
        parts += ffn_tensors(shape)
        for name, dims, kind in parts:
            yield f"blk.{layer}.{name}", dims, kind
    yield "output_norm.weight", (dim,), F32
    if not shape["tied"]:
        yield "output.weight", (dim, vocab), Q4_0


def metadata(alias: str, shape: dict) -> dict:
    arch, head_dim = shape["arch"], shape["head_dim"]
    own = {
        "context_length": shape["context"],
        "embedding_length": shape["dim"],
        "block_count": shape["layers"],
        "feed_forward_length": shape["ffn"],
        "attention.head_count": shape["heads"],
        "attention.head_count_kv": shape["kv_heads"],
        "attention.key_length": head_dim,
        "attention.value_length": head_dim,
        "attention.layer_norm_rms_epsilon": shape["eps"],
        "rope.dimension_count": head_dim // 4 if "interval" in shape else head_dim,
        "rope.freq_base": shape["rope"],
        "vocab_size": shape["vocab"],
    }
    if arch == "phi3":
        own["rope.scaling.original_context_length"] = shape["context"]
    if "interval" in shape:
        own |= {
            "rope.dimension_sections": [11, 11, 10, 0],
            "ssm.conv_kernel": shape["conv"],
            "ssm.inner_size": shape["value_heads"] * shape["state_dim"],
            "ssm.state_size": shape["state_dim"],
            "ssm.time_step_rank": shape["value_heads"],
            "ssm.group_count": shape["key_heads"],
            "full_attention_interval": shape["interval"],
        }
    if "experts" in shape:
        own |= {
            "expert_count": shape["experts"],
            "expert_used_count": shape["top_k"],
            "expert_feed_forward_length": shape["ffn"],
            "expert_shared_feed_forward_length": shape["ffn"],
        }
    general = {"general.architecture": arch, "general.name": f"random {alias}", "general.file_type": Q4_0}
    return general | {f"{arch}.{key}": value for key, value in own.items()} | {"tokenizer.ggml.model": "no_vocab"}


def packed_string(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def packed_value(value) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + packed_string(value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, list):  # of i32
        return struct.pack(f"<IIQ{len(value)}i", 9, 5, len(value), *value)
    return struct.pack("<II", 4, value)


def n_values(dims: tuple) -> int:
    product = 1
    for extent in dims:
        product *= extent
    return product


def n_bytes(dims: tuple, kind: int) -> int:
    return n_values(dims) // BLOCK_VALUES * BLOCK_BYTES if kind == Q4_0 else 4 * n_values(dims)


def aligned(count: int) -> int:
    return -(-count // ALIGNMENT) * ALIGNMENT


def header(alias: str, shape: dict) -> bytes:
    listed = list(tensors(shape))
    fields = metadata(alias, shape)
    out = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(listed), len(fields)))
    for key, value in fields.items():
        out += packed_string(key) + packed_value(value)
    offset = 0
    for name, dims, kind in listed:
        out += packed_string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset)
        offset += aligned(n_bytes(dims, kind))
    return bytes(out.ljust(aligned(len(out)), b"\0"))


class Values:
    """Bytes of weights that keep activations of order 1: mean near 0, deviation of a row of `dim` near dim^-0.5."""

    def __init__(self):
        self.random = random.Random(1)
        self.nibbles = self.random.randbytes(POOL_BLOCKS * BLOCK_BYTES)
        self.pools = {}

    def q4_0(self, dim: int) -> bytes:
        if dim not in self.pools:
            pool = bytearray(self.nibbles)
            nibble_deviation = 4.61
            scale = struct.pack("<e", dim**-0.5 / nibble_deviation)
            pool[0::BLOCK_BYTES] = scale[:1] * POOL_BLOCKS
            pool[1::BLOCK_BYTES] = scale[1:] * POOL_BLOCKS
            self.pools[dim] = bytes(pool)
        return self.pools[dim]

    def f32(self, name: str, dims: tuple) -> bytes:
        count = n_values(dims)
        if name.endswith("norm.weight"):
            return array.array("f", [1.0] * count).tobytes()
        if name.endswith("ssm_a"):  # a decay below 1
            return array.array("f", [-1.0] * count).tobytes()
        deviation = dims[0] ** -0.5
        return array.array("f", [self.random.uniform(-deviation, deviation) for _ in range(count)]).tobytes()


def write(alias: str, shape: dict, path: pathlib.Path) -> None:
    values = Values()
    # Under another name until it is whole, so that no half of a file is ever taken for one.
    part = path.with_suffix(f".part{os.getpid()}")
    try:
        with open(part, "wb") as out:
            out.write(header(alias, shape))
            for name, dims, kind in tensors(shape):
                rest = n_bytes(dims, kind)
                padding = aligned(rest) - rest
                block = memoryview(values.q4_0(dims[0]) if kind == Q4_0 else values.f32(name, dims))
                while rest > 0:
                    rest -= out.write(block[: min(rest, len(block))])
                out.write(b"\0" * padding)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def ensure(alias: str, n_layers: int = 0, cache: pathlib.Path = DEFAULT_CACHE) -> pathlib.Path:
    """The path of the file, which is written unless it is there. Raises KeyError for an alias without a shape."""
    shape = dict(SHAPES[alias])
    if n_layers:
        shape["layers"] = n_layers
        # As true_shapes.cpp cuts it: fewer layers than the interval still end with attention.
        if "interval" in shape:
            shape["interval"] = min(shape["interval"], n_layers)
    path = cache / f"{alias}-{shape['layers']}-q4_0.gguf"
    wanted = len(header(alias, shape)) + sum(aligned(n_bytes(dims, kind)) for _, dims, kind in tensors(shape))
    if not path.exists() or path.stat().st_size != wanted:
        cache.mkdir(parents=True, exist_ok=True)
        write(alias, shape, path)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split(".")[0])
    parser.add_argument("alias", choices=SHAPES)
    parser.add_argument("--layers", type=int, default=0)
    parser.add_argument("--cache", type=pathlib.Path, default=DEFAULT_CACHE)
    options = parser.parse_args()
    print(ensure(options.alias, options.layers, options.cache))
    return 0


if __name__ == "__main__":
    sys.exit(main())
