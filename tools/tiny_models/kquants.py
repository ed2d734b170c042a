"""Q4_K, Q5_K and Q6_K blocks of 256 weights. The gguf package reads these types but does not write them.

The choice of scales is plain (each sub-block's range), not llama.cpp's search: goldens are of the values on disk, so any
choice will do.
"""

import numpy as np

BLOCK = 256


def _f16(values: np.ndarray) -> np.ndarray:
    """[n, 1] f32 -> its f16 bytes [n, 2]."""
    return values.astype(np.float16).view(np.uint8).reshape(len(values), 2)


def _unsigned_steps(blocks: np.ndarray, max_q: int):
    """d and dmin f32 [n, 1], scales and mins u8 [n, 8], q u8 [n, 8, 32]: value = d*scale*q - dmin*min."""
    sub = blocks.reshape(-1, 8, 32)
    mins = np.maximum(0, -sub.min(-1))
    steps = np.maximum(sub.max(-1) + mins, 1e-8) / max_q
    d = np.maximum(steps.max(-1, keepdims=True) / 63, 1e-7).astype(np.float16).astype(np.float32)
    dmin = np.maximum(mins.max(-1, keepdims=True) / 63, 1e-7).astype(np.float16).astype(np.float32)
    scales = np.clip(np.rint(steps / d), 1, 63)
    offsets = np.clip(np.rint(mins / dmin), 0, 63)
    q = np.rint((sub + (dmin * offsets)[..., None]) / (d * scales)[..., None])
    return d, dmin, scales.astype(np.uint8), offsets.astype(np.uint8), np.clip(q, 0, max_q).astype(np.uint8)


def _packed_scales(scales: np.ndarray, mins: np.ndarray) -> np.ndarray:
    """Twice eight 6-bit numbers -> 12 bytes: the upper four of each have their high two bits in the lower four's tops."""
    low = (scales[:, :4] & 63) | ((scales[:, 4:] >> 4) << 6)
    middle = (mins[:, :4] & 63) | ((mins[:, 4:] >> 4) << 6)
    return np.concatenate([low, middle, (scales[:, 4:] & 15) | ((mins[:, 4:] & 15) << 4)], -1)


def _nibbles(q: np.ndarray) -> np.ndarray:
    """[n, 8, 32] -> [n, 128]: of two sub-blocks, the first is in the low nibbles, the second in the high ones."""
    return ((q[:, 0::2] & 15) | ((q[:, 1::2] & 15) << 4)).reshape(len(q), 128)


def quantize_q4_k(blocks: np.ndarray) -> np.ndarray:
    d, dmin, scales, mins, q = _unsigned_steps(blocks, 15)
    return np.concatenate([_f16(d), _f16(dmin), _packed_scales(scales, mins), _nibbles(q)], -1)


def quantize_q5_k(blocks: np.ndarray) -> np.ndarray:
    d, dmin, scales, mins, q = _unsigned_steps(blocks, 31)
    high = ((q >> 4) << np.arange(8, dtype=np.uint8)[:, None]).sum(1, dtype=np.uint8)
    return np.concatenate([_f16(d), _f16(dmin), _packed_scales(scales, mins), high, _nibbles(q)], -1)


def quantize_q6_k(blocks: np.ndarray) -> np.ndarray:
    sub = blocks.reshape(-1, 16, 16)
    extreme = np.take_along_axis(sub, np.abs(sub).argmax(-1)[..., None], -1)[..., 0]
    steps = extreme / -32  # so that the extreme is -32 steps: the steps have both signs
    widest = np.take_along_axis(steps, np.abs(steps).argmax(-1)[..., None], -1)
    d = np.where(widest == 0, 1e-7, widest / -128).astype(np.float16).astype(np.float32)
    scales = np.clip(np.rint(steps / d), -128, 127)
    divisor = np.where(scales == 0, 1, d * scales)[..., None]
    q = (np.clip(np.rint(sub / divisor), -32, 31) + 32).astype(np.uint8).reshape(-1, 2, 4, 32)
    low = (q[:, :, :2] & 15) | ((q[:, :, 2:] & 15) << 4)
    high = ((q >> 4) << (2 * np.arange(4, dtype=np.uint8))[:, None]).sum(2, dtype=np.uint8)
    n_blocks = len(blocks)
    return np.concatenate(
        [
            low.reshape(n_blocks, 128),
            high.reshape(n_blocks, 64),
            scales.astype(np.int8).view(np.uint8).reshape(n_blocks, 16),
            _f16(d),
        ],
        -1,
    )


QUANTIZERS = {"Q4_K": quantize_q4_k, "Q5_K": quantize_q5_k, "Q6_K": quantize_q6_k}


def quantize(matrix: np.ndarray, kind: str) -> np.ndarray:
    """[N, K] f32 -> bytes u8 [N, K/256 * block bytes]."""
    n_rows, n_columns = matrix.shape
    if n_columns % BLOCK:
        raise ValueError(f"A row of {kind} has {n_columns} weights, expected a multiple of {BLOCK}.")
    return QUANTIZERS[kind](matrix.reshape(-1, BLOCK)).reshape(n_rows, -1)
