"""Sizes of register file and scratch-pad [Dave2019, Table 4 and Fig. 12]: under OPT 1 to 3, and proven over the full
space.

The paper's rows of conv1 and conv5_1 rest on an older burst rule that is not public; the stride-1 rows agree.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from bench.measure import measure, show
from mapper.api.comparison import Row
from mapper.api.search import Search
from mapper.api.solution import joint_certificate
from mapper.cli.plot import draw_sweep
from mapper.sweeping.sweep import Sweep, sweep

RF_BYTES = [16, 32, 64, 128, 256, 512, 1024]
SPM_BYTES = [16384 << step for step in range(7)]
LAYERS = ["conv1", "conv2_2", "conv3_2", "conv4_2", "conv5_1", "conv5_2"]
PAPER = {
    "conv1": ("256, 512k", 1.59e16),
    "conv2_2": ("256, 512k", 4.52e15),
    "conv3_2": ("256, 1024k", 3.56e15),
    "conv4_2": ("256, 1024k", 3.57e15),
    "conv5_1": ("256, 1024k", 2.83e15),
    "conv5_2": ("256, 128k", 6.14e15),
    "total": ("256, 512k", 3.78e16),
}
PICTURES = Path("build") / "bench"


def design(row: Row) -> str:
    """A machine as Table 4 names it."""
    point = row.vary or {}
    return f"{point['rf.bytes']}, {point['spm.bytes'] // 1024}k"


def layer_sweep(method: str, layer: str) -> Sweep:
    """Least EDP of a layer on every machine of the grid."""
    grid = {"rf.bytes": RF_BYTES, "spm.bytes": SPM_BYTES}
    return sweep(f"resnet-dmazerunner/{layer}", "dmazerunner-256", grid, "edp", search=Search(method))


def best(rows: list[tuple[str, float]]) -> tuple[str, float]:
    """The design of least value."""
    return min(rows, key=lambda row: row[1])


def main() -> None:
    """Print both tables and draw Fig. 12 twice."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for method in ("opt1+opt2+opt3", "branch-and-bound"):
        totals: dict[str, float] = {}
        joined: dict[str, Row] = {}
        lines = []
        seconds = 0.0
        proven = True
        for layer in LAYERS:
            run = measure(partial(layer_sweep, method, layer))
            seconds += run.cpu
            found = [(design(row), float(row.certificate.value or 0)) for row in run.result.rows if row.cost]
            proven = proven and all(row.certificate.proven for row in run.result.rows)
            for name, value in found:
                totals[name] = totals.get(name, 0.0) + value
            for row in run.result.rows:
                before = joined.get(design(row))
                certificates = [row.certificate] if before is None else [before.certificate, row.certificate]
                joined[design(row)] = replace(row, certificate=joint_certificate(certificates))
            if len(found) < len(run.result.rows):
                missing = {design(row) for row in run.result.rows if not row.cost}
                print(f"{method}, {layer}: no mapping on {len(missing)} of {len(run.result.rows)} machines")
                totals = {name: value for name, value in totals.items() if name not in missing}
            lines.append(table_line(layer, *best(found)))
        lines.append(table_line("total", *best(list(totals.items()))))
        heading = ["layer", "best <RF, SPM>", "EDP", "paper's best", "paper's EDP", "ours / paper's"]
        show(
            f"{method} ({'proven' if proven else 'not proven: restricted'}), {seconds:.1f} CPU s:",
            heading,
            lines,
        )
        path = PICTURES / f"memory_sweep_{method.replace('+', '_')}.svg"
        draw_sweep(Sweep(tuple(joined.values()), run.result.posed), path)
        print(f"drawn: {path}")


def table_line(layer: str, name: str, value: float) -> list[str]:
    """One line beside the paper's."""
    paper_name, paper_value = PAPER[layer]
    return [layer, name, f"{value:.3e}", paper_name, f"{paper_value:.2e}", f"{value / paper_value:.3f}"]


if __name__ == "__main__":
    main()
