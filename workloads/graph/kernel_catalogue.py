"""The built-in kernels: a dozen innermost loops in C, written for this project."""

from __future__ import annotations

from pathlib import Path

from mapper.workloads.document import read_bytes

LARGEST_KERNEL_BYTES = 1 << 18

KERNELS: dict[str, str] = {
    "gemm": "kernel: one element of a matrix product, float32, innermost loop over k",
    "fir": "kernel: a filter of four taps, float32",
    "dot": "kernel: scalar product, float32, the sum carried from iteration to iteration",
    "gemv": "kernel: one element of a matrix-vector product, int32",
    "conv3x3": "kernel: a 3x3 convolution along one row of an image, int32",
    "histogram": "kernel: counts of 16 classes, a dependence through memory",
    "bitcount": "kernel: bits set in each word, by sums in parallel",
    "isqrt": "kernel: integer square root, one bit of the result an iteration",
    "saturate": "kernel: scale, shift, add and clip to 8 bits",
    "hashround": "kernel: FNV-like hash with a rotation, one word an iteration",
    "butterfly": "kernel: radix-2 butterflies of complex numbers, float32",
    "stencil": "kernel: smoothing in place, float32, a dependence of distance 1 through memory",
}
"""Names (fixed) and one-line descriptions."""


def kernel_bytes(name: str) -> bytes:
    """The C source of the built-in kernel ``name``."""
    return read_bytes(Path(__file__).parents[1] / "catalogue" / "kernels" / f"{name}.c", LARGEST_KERNEL_BYTES)
