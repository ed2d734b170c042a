"""MLX folders: safetensors whose matrices are triples .weight (u32), .scales and .biases (bf16), in any shards."""

import json
import pathlib
import random

import numpy as np

from . import affine_format, safetensors_format
from .disk_tensor import DiskTensor

GROUP = 64


def _parts(name: str, values: np.ndarray, stored) -> list[tuple[str, str, np.ndarray]]:
    if isinstance(stored, int):
        words, scales, biases = affine_format.quantize(values, stored, GROUP)
        return [
            (f"{name}.weight", "U32", words),
            (f"{name}.scales", "BF16", scales),
            (f"{name}.biases", "BF16", biases),
        ]
    return [(name, *(safetensors_format.as_f32(values) if stored == "F32" else safetensors_format.as_bf16(values)))]


def write(folder: pathlib.Path, tensors: list[tuple[str, np.ndarray, object]], n_shards: int, seed: int) -> dict:
    """tensors: (module or tensor name, f32 values, bits | "BF16" | "F32"). Cut into shards of about equal bytes in
    order; then a few parts of triples move to the next shard, as happens where MLX cuts a real checkpoint."""
    parts = [part for tensor in tensors for part in _parts(*tensor)]
    total = sum(raw.nbytes for _, _, raw in parts)
    shards, done = [[] for _ in range(n_shards)], 0
    draw = random.Random(f"{seed} spread")
    for part in parts:
        shard = min(n_shards - 1, done * n_shards // total)
        done += part[2].nbytes
        moves = part[0].endswith((".scales", ".biases")) and draw.random() < 0.05
        shards[(shard + moves) % n_shards].append(part)
    n_weights = sum(values.size for _, values, _ in tensors)
    return safetensors_format.write(folder, shards, seed, {"format": "mlx"}, n_weights)


def vision_tensors(hidden: int) -> list[tuple[str, np.ndarray, object]]:
    """A few tensors of the vision tower, which a text engine skips."""
    shapes = {
        "blocks.0.attn.qkv.bias": (72,),
        "blocks.0.attn.qkv.weight": (72, 24),
        "merger.norm.weight": (24,),
        "patch_embed.proj.weight": (24, 2, 4, 4, 3),
        "merger.linear_fc2.weight": (hidden, 24),
    }
    return [(f"vision_tower.{name}", np.full(shape, 0.5, np.float32), "BF16") for name, shape in shapes.items()]


def bits_of(config: dict, module: str) -> tuple[int, int]:
    quantization = config["quantization"]
    override = quantization.get(module, quantization)
    return override["bits"], override["group_size"]


def read(folder: pathlib.Path) -> dict[str, DiskTensor]:
    """Module or tensor name -> exact values, sorted by name, without the vision tower and multi-token prediction."""
    config = json.loads((folder / "config.json").read_text())
    raw = safetensors_format.read_raw(folder)
    tensors = {}
    for name, (dtype, values) in raw.items():
        if name.startswith("vision_tower.") or ".mtp." in name or name.startswith("mtp."):
            continue
        base = name.removesuffix(".weight")
        if f"{base}.scales" in raw and name.endswith(".weight"):
            bits, group = bits_of(config, base)
            scales, biases = (safetensors_format.as_floats(*raw[f"{base}.{part}"]) for part in ("scales", "biases"))
            tensors[base] = DiskTensor(
                affine_format.dequantize(values, scales, biases, bits, group), "affine", bits, group
            )
        elif not name.endswith((".scales", ".biases")):
            tensors[name] = DiskTensor(safetensors_format.as_floats(dtype, values), "plain")
    return dict(sorted(tensors.items()))
