"""The constraint program of tiling alone on VGG-16 (batch 16) and MobileNet-v2, with branch and bound beside it.

Value, bound, proof, seconds of processor time:
``python -m bench.tiling.constraint_program [SECONDS] [LAYER ...]``, a layer by its name or how that begins.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

from bench.measure import measure, show
from mapper.arch.source import load_machine
from mapper.formulations.tiling.problem import TilingProblem
from mapper.solver.method import Effort
from mapper.solver.tiling.exact.branch_and_bound import BRANCH_AND_BOUND
from mapper.solver.tiling.program.constraint_program import CONSTRAINT_PROGRAM
from mapper.workloads.nest.layer_nest import Convolution, convolution_nest
from mapper.workloads.nest.loop_nest import LoopNest

SECONDS = 300.0
VGG16 = (
    (3, 64, 224), (64, 64, 224), (64, 128, 112), (128, 128, 112), (128, 256, 56), (256, 256, 56), (256, 512, 28),
    (512, 512, 28), (512, 512, 14),
)  # fmt: skip
"""Input channels, filters and size of the different convolutions of 3x3 [Simonyan2015, configuration D]."""
MOBILENET_V2 = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
)  # fmt: skip
"""Expansion, output channels, repetitions and first stride of the bottlenecks [Sandler2018, Table 2]."""


def convolution(
    name: str, batch: int, channels: int, filters: int, size: int, kernel: int, stride: int, groups: int = 1
) -> LoopNest:
    """A square convolution whose output is its input's ``size`` over ``stride``."""
    pad = (kernel - 1) // 2
    pads = ((pad, pad),) * 2
    shape = Convolution(
        batch, filters, channels, (size,) * 2, (kernel,) * 2, (stride,) * 2, (1,) * 2, pads, groups
    )
    return convolution_nest(name, shape)


def vgg16() -> Iterator[LoopNest]:
    """Every different convolution at batch 16."""
    for channels, filters, size in VGG16:
        yield convolution(f"vgg16/{channels}-{filters}-{size}", 16, channels, filters, size, 3, 1)


def mobilenet_v2() -> Iterator[LoopNest]:
    """Every convolution of one image, equal ones too."""
    yield convolution("mobilenet-v2/conv1", 1, 3, 32, 224, 3, 2)
    channels, size = 32, 112
    for expansion, filters, repetitions, first in MOBILENET_V2:
        for stride in (first, *[1] * (repetitions - 1)):
            wide = channels * expansion
            if expansion > 1:
                yield convolution(f"mobilenet-v2/expand-{channels}-{size}", 1, channels, wide, size, 1, 1)
            name = f"mobilenet-v2/depthwise-{wide}-{size}-{stride}"
            yield convolution(name, 1, wide, wide, size, 3, stride, wide)
            size //= stride
            yield convolution(f"mobilenet-v2/project-{wide}-{filters}-{size}", 1, wide, filters, size, 1, 1)
            channels = filters
    yield convolution("mobilenet-v2/last", 1, channels, 1280, size, 1, 1)


def row(nest: LoopNest, seconds: float) -> list[str]:
    """What both methods say of a layer on the paper's machine, with no padding."""
    machine, _ = load_machine("dmazerunner-256")
    problem = TilingProblem(nest, machine, "edp")
    peer = measure(lambda: BRANCH_AND_BOUND.search(problem, Effort()))
    effort = Effort(workers=2, deadline=time.monotonic() + seconds)
    alone = measure(lambda: CONSTRAINT_PROGRAM.search(problem, effort))
    value, bound = alone.result.value, alone.result.bound
    return [
        nest.name,
        "–" if value is None else f"{value:.6g}",
        "–" if bound is None else f"{bound:.6g}",
        "yes" if alone.result.proven else "no",
        f"{alone.cpu:.0f}",
        f"{peer.result.value:.6g}",
        f"{peer.cpu:.1f}",
    ]


def main() -> None:
    """Print a row for each different layer."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    wanted = tuple(sys.argv[2:]) or ("",)
    layers = {nest.name: nest for nest in (*vgg16(), *mobilenet_v2()) if nest.name.startswith(wanted)}
    show(
        f"least EDP on dmazerunner-256, cp-sat alone, {seconds:.0f} s a layer at the most:",
        ["layer", "cp-sat", "bound", "proven", "CPU s", "branch and bound", "CPU s"],
        [row(nest, seconds) for nest in layers.values()],
    )


if __name__ == "__main__":
    main()
