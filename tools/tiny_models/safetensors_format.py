"""Safetensors folders: raw reading and writing of shards and the index.

The safetensors package pads and sorts; MLX's writer does neither, and that is what a loader has to survive.
"""

import json
import pathlib
import random
import struct

import numpy as np

from .disk_tensor import bf16_bits, bf16_values

DTYPES = {"U32": np.uint32, "F32": np.float32, "F16": np.float16, "BF16": np.uint16}
INDEX = "model.safetensors.index.json"


def write_shard(path: pathlib.Path, tensors: list[tuple[str, str, np.ndarray]], metadata: dict, padded: bool) -> int:
    """tensors: (name, dtype, raw array) in the data's order; the header's keys are sorted. Returns the header's bytes."""
    header, offset = {"__metadata__": metadata}, 0
    for name, dtype, raw in tensors:
        header[name] = {"data_offsets": [offset, offset + raw.nbytes], "dtype": dtype, "shape": list(raw.shape)}
        offset += raw.nbytes
    text = json.dumps(dict(sorted(header.items())), separators=(",", ":")).encode()
    if padded:
        text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(raw.tobytes() for _, _, raw in tensors))
    return len(text)


def write(
    folder: pathlib.Path,
    shards: list[list[tuple[str, str, np.ndarray]]],
    seed: int | None,
    metadata: dict,
    n_weights: int,
) -> dict:
    """With a seed each shard is shuffled and headers are not padded (MLX); without, neither (Hugging Face)."""
    headers, where = [], {}
    for index, tensors in enumerate(shards):
        name = f"model-{index + 1:05}-of-{len(shards):05}.safetensors" if len(shards) > 1 else "model.safetensors"
        if seed is not None:
            random.Random(f"{seed} {index}").shuffle(tensors)
        headers.append(write_shard(folder / name, tensors, metadata, padded=seed is None))
        where |= {tensor[0]: name for tensor in tensors}
    total = sum(raw.nbytes for tensors in shards for _, _, raw in tensors)
    if len(shards) > 1:
        index = {
            "metadata": {"total_size": total, "total_parameters": n_weights},
            "weight_map": dict(sorted(where.items())),
        }
        (folder / INDEX).write_text(json.dumps(index, indent=4))
    return {"shards": len(shards), "header_bytes": headers}


def as_bf16(values: np.ndarray) -> tuple[str, np.ndarray]:
    return "BF16", bf16_bits(values).reshape(values.shape)


def as_f32(values: np.ndarray) -> tuple[str, np.ndarray]:
    return "F32", np.ascontiguousarray(values, np.float32)


def read_raw(folder: pathlib.Path) -> dict[str, tuple[str, np.ndarray]]:
    """name -> dtype, raw array, of all shards, sorted by name."""
    tensors = {}
    for path in sorted(folder.glob("*.safetensors")):
        data = path.read_bytes()
        n_header = struct.unpack_from("<Q", data)[0]
        header = json.loads(data[8 : 8 + n_header])
        header.pop("__metadata__", None)
        for name, entry in header.items():
            begin, end = (8 + n_header + offset for offset in entry["data_offsets"])
            tensors[name] = entry["dtype"], np.frombuffer(data[begin:end], DTYPES[entry["dtype"]]).reshape(
                entry["shape"]
            )
    return dict(sorted(tensors.items()))


def as_floats(dtype: str, raw: np.ndarray) -> np.ndarray:
    return bf16_values(raw) if dtype == "BF16" else raw.astype(np.float32)
