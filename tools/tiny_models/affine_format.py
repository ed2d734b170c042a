"""MLX's affine quantisation: value = scale * q + bias, with a bf16 scale (of either sign) and bias a group.

The q of a row are one little-endian stream of bits, so that fields of 3 bits cross the borders of u32 words.
"""

import numpy as np

from .disk_tensor import bf16_bits, bf16_values, round_to_bf16


def quantize(values: np.ndarray, bits: int, group: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[.., N, K] f32 -> words u32 [.., N, K*bits/32], scales and biases bf16 bits u16 [.., N, K/group]."""
    groups = values.reshape(*values.shape[:-1], -1, group)
    high, low = groups.max(-1), groups.min(-1)
    n_steps = 2**bits - 1
    # MLX starts at the edge farther from zero and places zero on a step, so that it is exact: hence both signs.
    from_low = np.abs(low) > np.abs(high)
    scale = np.maximum((high - low) / n_steps, 1e-7) * np.where(from_low, 1, -1)
    edge = np.where(from_low, low, high)
    steps_to_zero = np.rint(edge / scale)
    at_zero = steps_to_zero == 0
    scale = round_to_bf16(np.where(at_zero, scale, edge / np.where(at_zero, 1, steps_to_zero)))
    bias = round_to_bf16(np.where(at_zero, 0, edge))
    q = np.clip(np.rint((groups - bias[..., None]) / scale[..., None]), 0, n_steps).astype(np.uint8)
    return pack(q.reshape(values.shape), bits), bf16_bits(scale), bf16_bits(bias)


def pack(q: np.ndarray, bits: int) -> np.ndarray:
    stream = (q[..., None] >> np.arange(bits, dtype=np.uint8)) & 1
    packed = np.packbits(stream.reshape(*q.shape[:-1], -1), axis=-1, bitorder="little")
    return np.ascontiguousarray(packed).view(np.uint32)


def unpack(words: np.ndarray, bits: int) -> np.ndarray:
    stream = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=-1, bitorder="little")
    fields = stream.reshape(*words.shape[:-1], -1, bits)
    return (fields << np.arange(bits, dtype=np.uint8)).sum(-1, dtype=np.uint8)


def dequantize(words: np.ndarray, scales: np.ndarray, biases: np.ndarray, bits: int, group: int) -> np.ndarray:
    """scales and biases in f32. The product is exact in f64, so there is one rounding, of the sum."""
    q = unpack(words, bits)
    q = q.reshape(*q.shape[:-1], -1, group).astype(np.float64)
    values = q * scales.astype(np.float64)[..., None] + biases.astype(np.float64)[..., None]
    return values.reshape(*words.shape[:-1], -1).astype(np.float32)


def requantized(values: np.ndarray, bits: int, group: int) -> np.ndarray:
    """The values after quantisation to bits, in f32."""
    words, scales, biases = quantize(values, bits, group)
    return dequantize(words, bf16_values(scales), bf16_values(biases), bits, group)
