"""The families: where each tensor of transformers' state dict lies in the published format, and back.

Each family has to_disk(state, dims) -> {disk name: f32} in file order and from_disk(tensors, dims) -> state dict.
Both are written against one table of pairs, so that they cannot drift apart: see names.py for the tables.
"""

import numpy as np

from . import gguf_format
from .names import is_attention  # noqa: F401  (part of what families offer)
from .names import gguf_names, hf_names, mlc_phi3_names, mlc_qwen_names, mlx_names

# A rule is (disk name, [state names], kind). kind: "" as it is; "rows": the state's matrices below one another;
# "+1": the disk holds 1 + w; "heads" or "kv_heads": permuted rows; "conv": [C, K, 1] on disk, [C, 1, K] in the state;
# "experts": the disk has one of the two halves of the state's fused rows (half 0 or 1 given after the colon).


def rules(family: str, dims: dict):
    return {
        "phi3": mlc_phi3_names,
        "qwen3": mlc_qwen_names,
        "qwen35": mlc_qwen_names,
        "qwen36": mlx_names,
        "qwen36q3": mlx_names,
        "llama": gguf_names,
        "qwen3-hf": hf_names,
        "llama-hf": hf_names,
    }[family](dims)


def _stacked(state: dict, sources: list[str]) -> np.ndarray:
    return np.concatenate([state[name] for name in sources], 0)


def to_disk(family: str, state: dict, dims: dict) -> dict[str, np.ndarray]:
    disk = {}
    for name, sources, kind in rules(family, dims):
        value = state[sources[0]]
        if kind == "rows":
            value = _stacked(state, sources)
        elif kind == "+1":
            value = value + np.float32(1)
        elif kind in ("heads", "kv_heads"):
            value = gguf_format.permuted(value, dims[kind])
        elif kind == "conv":
            value = value.swapaxes(1, 2)
        elif kind.startswith("experts"):
            value = np.split(value, 2, 1)[int(kind[-1])]
        disk[name] = np.ascontiguousarray(value, np.float32)
    return disk


def from_disk(family: str, tensors: dict, dims: dict) -> dict[str, np.ndarray]:
    state = {}
    for name, sources, kind in rules(family, dims):
        value = tensors[name].values
        if kind == "rows":
            heights = row_counts(sources, value.shape[0], dims)
            for source, part in zip(sources, np.split(value, np.cumsum(heights)[:-1], 0)):
                state[source] = part
            continue
        if kind == "+1":
            value = value - np.float32(1)  # exact: the disk's 1 + w has few bits
        elif kind in ("heads", "kv_heads"):
            value = gguf_format.unpermuted(value, dims[kind])
        elif kind == "conv":
            value = value.swapaxes(1, 2)
        elif kind.startswith("experts"):
            half = int(kind[-1])
            value = np.concatenate([state[sources[0]], value], 1) if half else value
        state[sources[0]] = value
    return state


def row_counts(sources: list[str], n_rows: int, dims: dict) -> list[int]:
    """Rows of each matrix of a fused one: q (twice as tall with an output gate), k, v; or equal parts."""
    if not sources[0].endswith("q_proj.weight"):
        return [n_rows // len(sources)] * len(sources)
    n_kv = dims["kv_heads"] * dims["head_dim"]
    return [n_rows - 2 * n_kv, n_kv, n_kv]
