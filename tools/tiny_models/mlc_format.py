"""MLC's q4f16_1 folders: the quantisation, the shards and their manifest, written and read.

A matrix X is X.q_weight u32 [N, K/8] (element k in nibble k mod 8 of word k/8) and X.q_scale f16 [N, K/32];
value = (nibble - 7) * scale.
Sources: MLC-LLM's group quantisation and TVM's dump of parameters, as told in the project's notes on formats.
"""

import hashlib
import json
import pathlib

import numpy as np

from .disk_tensor import DiskTensor, bf16_bits, bf16_values

GROUP = 32
MANIFESTS = ("ndarray-cache.json", "tensor-cache.json")  # the old and the new name
# TVM writes this in every record, also where the bytes are plain u32 or f16. Only float32 tensors are stored as bf16.
RECORD_FORMAT = "f32-to-bf16"


def quantize(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[N, K] f32 -> words u32 [N, K/8], scales f16 [N, K/32]. Nibbles are 0..14, as MLC writes them."""
    n_rows, n_columns = matrix.shape
    groups = matrix.reshape(n_rows, n_columns // GROUP, GROUP)
    scales = (np.abs(groups).max(-1) / 7).astype(np.float16)
    divisor = np.where(scales == 0, 1, scales.astype(np.float32))[..., None]
    nibbles = np.clip(np.rint(groups / divisor) + 7, 0, 14).astype(np.uint32).reshape(n_rows, n_columns // 8, 8)
    words = (nibbles << (4 * np.arange(8, dtype=np.uint32))).sum(-1, dtype=np.uint32)
    return words, scales


def dequantize(words: np.ndarray, scales: np.ndarray) -> np.ndarray:
    nibbles = (words[..., None] >> (4 * np.arange(8, dtype=np.uint32))) & 15
    values = nibbles.reshape(words.shape[0], -1, GROUP).astype(np.float32) - 7
    return (values * scales.astype(np.float32)[..., None]).reshape(words.shape[0], -1)


def _parts(name: str, values: np.ndarray, stored: str):
    """The records (name, shape, dtype, bytes) of one logical tensor."""
    if stored == "q4f16_1":
        words, scales = quantize(values)
        yield f"{name}.q_weight", words.shape, "uint32", words.tobytes()
        yield f"{name}.q_scale", scales.shape, "float16", scales.tobytes()
    elif stored == "float16":
        yield name, values.shape, "float16", values.astype(np.float16).tobytes()
    else:
        yield name, values.shape, "float32", bf16_bits(values).tobytes()


def _shards(parts, cap: int):
    """TVM's rule: a part that does not fit gets a shard of its own if it is at least half the cap, else it starts one."""
    pending, pending_bytes = [], 0
    for part in parts:
        n_bytes = len(part[3])
        if pending_bytes + n_bytes > cap:
            if n_bytes >= cap // 2:
                yield [part]
                continue
            yield pending
            pending, pending_bytes = [], 0
        pending.append(part)
        pending_bytes += n_bytes
    if pending:
        yield pending


def write(folder: pathlib.Path, tensors: list[tuple[str, np.ndarray, str]], manifest: str, shard_cap: int) -> dict:
    """tensors: (logical name, f32 values, "q4f16_1" | "float16" | "float32") in file order."""
    parts = [part for tensor in tensors for part in _parts(*tensor)]
    shards = []
    for index, content in enumerate(_shards(parts, shard_cap)):
        data = b"".join(part[3] for part in content)
        (folder / f"params_shard_{index}.bin").write_bytes(data)
        records, offset = [], 0
        for name, shape, dtype, part_bytes in content:
            records.append(
                {
                    "name": name,
                    "shape": list(shape),
                    "dtype": dtype,
                    "format": RECORD_FORMAT,
                    "nbytes": len(part_bytes),
                    "byteOffset": offset,
                }
            )
            offset += len(part_bytes)
        shards.append(
            {
                "dataPath": f"params_shard_{index}.bin",
                "format": "raw-shard",
                "nbytes": len(data),
                "records": records,
                "md5sum": hashlib.md5(data).hexdigest(),
            }
        )
    # TVM counts a float32 tensor as it was, not as it is stored.
    n_bytes = sum(len(part[3]) * (2 if part[2] == "float32" else 1) for part in parts)
    n_weights = sum(values.size for _, values, _ in tensors)
    cache = {
        "metadata": {"ParamSize": len(parts), "ParamBytes": float(n_bytes), "BitsPerParam": n_bytes * 8 / n_weights},
        "records": shards,
    }
    (folder / manifest).write_text(json.dumps(cache, indent=4))
    if any(record["dtype"] == "float32" for shard in shards for record in shard["records"]):
        for shard in shards:  # the twin that TVM writes beside it tells the truth about bf16; readers ignore it
            for record in shard["records"]:
                if record["dtype"] == "float32":
                    record |= {"dtype": "bfloat16", "format": "raw"}
        (folder / manifest.replace(".json", "-b16.json")).write_text(json.dumps(cache, indent=4))
    return {"shards": len(shards)}


def read(folder: pathlib.Path) -> dict[str, DiskTensor]:
    """Logical name (matrices without .q_weight) -> exact values, in the manifest's order."""
    manifest = next(folder / name for name in MANIFESTS if (folder / name).exists())
    raw = {}
    for shard in json.loads(manifest.read_text())["records"]:
        data = (folder / shard["dataPath"]).read_bytes()
        for record in shard["records"]:
            part = data[record["byteOffset"] :][: record["nbytes"]]
            stored = {"uint32": np.uint32, "float16": np.float16, "float32": np.uint16}[record["dtype"]]
            raw[record["name"]] = record["dtype"], np.frombuffer(part, stored).reshape(record["shape"])
    tensors = {}
    for name, (dtype, values) in raw.items():
        base = name.removesuffix(".q_weight")
        if base != name:
            tensors[base] = DiskTensor(dequantize(values, raw[f"{base}.q_scale"][1]), "q4f16_1")
        elif not name.endswith(".q_scale"):
            exact = bf16_values(values) if dtype == "float32" else values.astype(np.float32)
            tensors[name] = DiskTensor(exact, dtype)
    return tensors
