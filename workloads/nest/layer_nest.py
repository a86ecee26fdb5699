"""Layers of networks as loop nests: convolutions of any rank, and (batched) matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mapper.workloads.nest.loop_nest import AffineIndex, LoopNest, Operand

AXES = "xyz"


@dataclass(frozen=True)
class Convolution:
    """Shape of a convolution: sizes in elements, ``pads`` as (begin, end) per axis (ONNX order)."""

    batch: int
    out_channels: int
    in_channels: int
    input_size: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    groups: int = 1

    @property
    def padded_size(self) -> tuple[int, ...]:
        return tuple(size + sum(pad) for size, pad in zip(self.input_size, self.pads, strict=True))

    @property
    def output_size(self) -> tuple[int, ...]:
        return tuple(
            (size - dilation * (kernel - 1) - 1) // stride + 1
            for size, kernel, stride, dilation in zip(
                self.padded_size, self.kernel, self.strides, self.dilations, strict=True
            )
        )


def square_convolution(
    batch: int,
    out_channels: int,
    in_channels: int,
    output: int,
    kernel: int,
    stride: int,
    size: int,
    pad: int,
) -> Convolution:
    """A two-dimensional convolution whose axes are alike.

    Raises: ValueError if the sizes contradict each other.
    """
    convolution = Convolution(
        batch,
        out_channels,
        in_channels,
        (size,) * 2,
        (kernel,) * 2,
        (stride,) * 2,
        (1,) * 2,
        ((pad, pad),) * 2,
    )
    if convolution.output_size != (output, output):
        raise ValueError(f"output {convolution.output_size}, not {output}")
    return convolution


def convolution_nest(name: str, shape: Convolution) -> LoopNest:
    """``O[n][m][o] += I[n][c][s*o + d*f] * W[m][c][f]`` in the loop order of [Dave2019], Fig. 4(a).

    With groups a loop G runs outside the channels of one group. The input is stored padded.
    """
    rank = len(shape.kernel)
    outer, inner = [f"O{axis}" for axis in AXES[:rank]], [f"F{axis}" for axis in AXES[:rank]]
    grouped = shape.groups > 1
    group = ["G"] if grouped else []
    bounds = {"N": shape.batch, "G": shape.groups} if grouped else {"N": shape.batch}
    bounds |= {"M": shape.out_channels // shape.groups, "C": shape.in_channels // shape.groups}
    bounds |= dict(zip(outer, shape.output_size, strict=True)) | dict(zip(inner, shape.kernel, strict=True))
    slide = [
        AffineIndex(tuple(sorted(((o, stride), (f, dilation)))))
        for o, f, stride, dilation in zip(outer, inner, shape.strides, shape.dilations, strict=True)
    ]
    groups = (shape.groups,) if grouped else ()
    return LoopNest(
        name,
        tuple(bounds.items()),
        (
            Operand(
                "O",
                _plain(["N", *group, "M", *outer]),
                "read_write",
                (shape.batch, *groups, bounds["M"], *shape.output_size),
            ),
            Operand(
                "I",
                (*_plain(["N", *group, "C"]), *slide),
                "read",
                (shape.batch, *groups, bounds["C"], *shape.padded_size),
            ),
            Operand(
                "W",
                _plain([*group, "M", "C", *inner]),
                "read",
                (*groups, bounds["M"], bounds["C"], *shape.kernel),
            ),
        ),
    )


def matrix_product_nest(
    name: str,
    batch: Sequence[int],
    rows: int,
    columns: int,
    depth: int,
    shared: Sequence[bool] = (),
    *,
    shared_a: Sequence[bool] = (),
    transposed: tuple[bool, bool] = (False, False),
) -> LoopNest:
    """``O[b][i][j] += A[b][i][k] * B[b][k][j]``.

    ``shared`` says which batch axes B does not have, ``shared_a`` which A does not have, ``transposed``
    whether A and B are stored with their last two dimensions swapped.
    """
    axes = [f"B{position}" for position in range(len(batch))]
    sizes = dict(zip(axes, batch, strict=True)) | {"I": rows, "J": columns, "K": depth}
    accesses = {
        "O": [*axes, "I", "J"],
        "A": [*_kept(axes, shared_a), *(("K", "I") if transposed[0] else ("I", "K"))],
        "B": [*_kept(axes, shared), *(("J", "K") if transposed[1] else ("K", "J"))],
    }
    operands = (
        Operand(
            operand,
            _plain(index),
            "read_write" if operand == "O" else "read",
            tuple(sizes[loop] for loop in index),
        )
        for operand, index in accesses.items()
    )
    return LoopNest(name, tuple(sizes.items()), tuple(operands))


def _plain(loops: Sequence[str]) -> tuple[AffineIndex, ...]:
    return tuple(AffineIndex(((loop, 1),)) for loop in loops)


def _kept(axes: Sequence[str], absent: Sequence[bool]) -> list[str]:
    return [axis for position, axis in enumerate(axes) if not (position < len(absent) and absent[position])]
