"""Figures of the kind ``tiling``: the dataflow accelerator, and a convolution's nest by level."""

from __future__ import annotations

from docs.site.figure.solved import solved
from docs.site.svg import LINE, PAPER, box, line, page, text
from mapper.arch.dataflow import DataflowMachine
from mapper.arch.source import load_machine
from mapper.formulations.tiling.problem import TilingProblem
from mapper.kind.tiling.picture import LEVELS
from mapper.models.tiling import tile
from mapper.models.tiling.cost import quantities
from mapper.models.tiling.mapping import TilingMapping

WORKLOAD, ARCH = "resnet-dmazerunner/conv5_2", "dmazerunner-256"
COLOURS = {"dram": "#e6eaee", "spm": "#dfe9f7", "spatial": "#f8e6c8", "rf": "#d5ecdf"}
WIDTH = 700


def _problem() -> tuple[TilingProblem, TilingMapping]:
    found = solved(WORKLOAD, ARCH, "edp")
    assert isinstance(found.problem, TilingProblem) and isinstance(found.mapping, TilingMapping)
    return found.problem, found.mapping


def machine() -> str:
    """DRAM, DMA, scratch-pad, networks and PEs, with the numbers of the machine's file."""
    return _drawn(_problem()[0].machine)


def eyeriss() -> str:
    """The same of the Eyeriss chip, whose scratch-pad is filled while nothing is computed."""
    found, _ = load_machine("eyeriss-168")
    assert isinstance(found, DataflowMachine)
    return _drawn(found)


def _drawn(arch: DataflowMachine) -> str:
    rows, columns = arch.pe_array.rows, arch.pe_array.columns
    top, height = 40, 176
    middle = top + height / 2
    parts = [
        text(70, 28, "DRAM", "title"),
        box(20, top, 100, height, COLOURS["dram"]),
        text(70, middle + 4, "whole tensors", "small"),
        line([(120, middle), (194, middle)], width=2, tip=True, tail=True),
        text(157, middle - 10, "DMA", "title"),
        text(157, middle + 22, "in bursts", "quiet"),
        text(264, 28, "scratch-pad", "title"),
        *_scratch_pad(arch, top, height),
        text(378, 28, "networks", "title"),
    ]
    for number, network in enumerate(arch.noc.networks):
        y = top + (number + 0.5) * height / len(arch.noc.networks)
        ends = [(334, y), (422, y)]
        parts.append(line(ends if network.carries == "read" else ends[::-1], width=2, tip=True))
        parts.append(text(378, y - 7, network.carries, "quiet"))
    cell = min(height / rows, height / columns)
    left = 428
    parts.append(text(left + columns * cell / 2, 28, f"{rows} x {columns} PEs", "title"))
    for row in range(rows):
        for column in range(columns):
            x, y = left + column * cell, top + row * cell
            parts.append(box(x + 1, y + 1, cell - 2, cell - 2, COLOURS["spatial"], corner=2))
    edge = left + columns * cell
    parts += [
        line([(edge - 1, top + 1), (626, top)], LINE, 1),
        line([(edge - 1, top + cell - 1), (626, top + height)], LINE, 1),
        text(653, 28, "one PE", "title"),
        box(626, top, 54, height, PAPER, LINE),
        box(630, top + 6, 46, 92, COLOURS["rf"]),
        text(653, top + 44, "RF", "title"),
        text(653, top + 64, f"{arch.rf.bytes} B", "small"),
        line([(653, top + 101), (653, top + 121)], width=2, tip=True, tail=True),
        box(630, top + 124, 46, 46, COLOURS["spatial"]),
        text(653, top + 151, "MAC", "title"),
    ]
    scratch_pad = "double-buffered scratch-pad" if arch.spm.double_buffered else "scratch-pad"
    label = f"A dataflow accelerator: DRAM, DMA, {scratch_pad}, networks, {rows} by {columns} PEs"
    return page(WIDTH, top + height + 20, label, parts)


def _scratch_pad(arch: DataflowMachine, top: float, height: float) -> list[str]:
    banks, size = arch.spm.visible_banks, arch.spm.bank_bytes // 1024
    middle, whole = top + height / 2, f"{arch.spm.bytes // 1024} kB:"
    if not arch.spm.double_buffered:
        return [
            box(200, top, 128, height, COLOURS["spm"]),
            text(264, middle - 4, whole, "small"),
            text(264, middle + 14, f"{banks} banks of {size} kB", "small"),
        ]
    return [
        box(200, top, 128, height / 2 - 3, COLOURS["spm"]),
        text(264, top + 32, f"half of {whole}", "small"),
        text(264, top + 50, f"{banks} banks of {size} kB", "small"),
        text(264, top + 68, "in use", "small"),
        box(200, middle + 3, 128, height / 2 - 3, PAPER, LINE),
        text(264, middle + 40, "half being filled", "small"),
        text(264, middle + 58, "by the DMA", "small"),
    ]


def mapping() -> str:
    """The nest from the outermost loop to the innermost, and how many words of each operand a level holds."""
    problem, chosen = _problem()
    nest, arch = problem.nest, problem.machine
    q = quantities(nest, arch, chosen)
    held = {
        "dram": [tile.words(operand, nest.trip_counts) for operand in nest.operands],
        "spm": q.spm_words,
        "spatial": q.array_words,
        "rf": q.rf_words,
    }
    names = {"dram": "DRAM", "spm": "scratch-pad", "spatial": "all PEs", "rf": "one PE"}
    columns = [420 + 92 * place for place in range(len(nest.operands))]
    parts = [text(20, 28, f"{nest.name} on {arch.name}, least EDP", "title", "start")]
    parts.append(text(columns[0] - 70, 28, "words of", "quiet", "start"))
    for x, operand in zip(columns, nest.operands, strict=True):
        parts.append(text(x + 62, 28, operand.name, "title", "end"))
    y, depth = 40, 0
    for level, _, what in LEVELS:
        counts = chosen.trip_counts(level)
        order = chosen.order(level) if level in ("dram", "spm") else chosen.loops
        loops = [loop for loop in order if counts[loop] > 1]
        height = 28 + 18 * len(loops)
        parts.append(box(20, y, WIDTH - 40, height, COLOURS[level]))
        parts.append(text(32, y + 19, names[level], "title", "start"))
        parts.append(text(124, y + 19, what, "quiet", "start"))
        for x, words in zip(columns, held[level], strict=True):
            parts.append(text(x + 62, y + 19, f"{int(words):,}", "small", "end"))
        for place, loop in enumerate(loops):
            word = "parallel for" if level == "spatial" else "for"
            said = f"{word} {loop} = 0..{counts[loop] - 1}"
            parts.append(text(44 + 10 * depth, y + 38 + 18 * place, said, "code", "start"))
            depth += level != "spatial"
        y += height + 6
    pes = tile.product(chosen.trip_counts("spatial"), nest.loops)
    rf = sum(q.rf_words)
    banks = tile.banks(nest, arch, chosen.trip_counts("rf", "spatial", "spm"))
    said = (
        f"In use: {pes} of {arch.pes} PEs, {rf} of {arch.rf_words} words of every register file, "
        f"{banks} of {arch.spm.visible_banks} banks of the scratch-pad."
    )
    parts.append(text(20, y + 16, said, "small", "start"))
    return page(WIDTH, y + 32, "The loop nest of a convolution by level, and what every level holds", parts)
