"""A tensor of a checkpoint: its exact values, and how they are stored."""

import dataclasses

import numpy as np


@dataclasses.dataclass
class DiskTensor:
    values: np.ndarray  # f32, exactly what the file holds (one rounding where scale * q + bias needs one)
    format: str  # "q4f16_1", "affine", "gguf", "plain", "float16" or "float32"
    bits: int | None = None  # of "affine"
    group_size: int | None = None  # of "affine"

    def summary(self, name: str) -> dict:
        """The row of tensors.json: sums in f64 and the ends of the first and last row, enough to test a loader."""
        flat, rows = self.values.reshape(-1), self.values.reshape(-1, self.values.shape[-1])
        row = {"name": name, "shape": list(self.values.shape), "format": self.format}
        if self.bits is not None:
            row |= {"bits": self.bits, "group_size": self.group_size}
        return row | {
            "sum": float(flat.sum(dtype=np.float64)),
            "abs_sum": float(np.abs(flat).sum(dtype=np.float64)),
            "row0_first8": rows[0, :8].tolist(),
            "last_row_last8": rows[-1, -8:].tolist(),
        }


def bf16_bits(values: np.ndarray) -> np.ndarray:
    """bfloat16 bit patterns (u16), round to nearest even; finite values only."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def bf16_values(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def round_to_bf16(values: np.ndarray) -> np.ndarray:
    return bf16_values(bf16_bits(values))
