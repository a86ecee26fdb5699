"""Figures of the kind ``hierarchy``: the levels of a machine, and a convolution's nest as bands of levels."""

from __future__ import annotations

from docs.site.figure.solved import solved
from docs.site.svg import box, page, text
from mapper.formulations.hierarchy.problem import HierarchyProblem
from mapper.models.hierarchy.mapping import HierarchyMapping

WORKLOAD, ARCH = "resnet-dmazerunner/conv5_2", "gemmini-16"
COLOURS = ("#e6eaee", "#dfe9f7", "#f8e6c8", "#d5ecdf")
WIDTH, BAND, LEFT = 700, 44, 20


def _problem() -> tuple[HierarchyProblem, HierarchyMapping]:
    found = solved(WORKLOAD, ARCH, "edp")
    assert isinstance(found.problem, HierarchyProblem) and isinstance(found.mapping, HierarchyMapping)
    return found.problem, found.mapping


def _bands(rows: list[tuple[str, str]], label: str) -> str:
    """Bands one above the other, each further to the right: what stands at their left, and in them."""
    parts = []
    for place, (name, said) in enumerate(rows):
        x, y = LEFT + 24 * place, 16 + (BAND + 6) * place
        parts.append(box(x, y, WIDTH - LEFT - x, BAND, COLOURS[place % len(COLOURS)]))
        parts.append(text(x + 12, y + 27, name, "title", "start"))
        parts.append(text(x + 150, y + 27, said, "small", "start"))
    return page(WIDTH, 16 + (BAND + 6) * len(rows) + 10, label, parts)


def machine() -> str:
    """The levels with words, what they keep, and what fans out below them."""
    rows = []
    found = _problem()[0].machine
    for level in found.levels:
        words = "without limit" if level.words is None else f"{level.words:,} words of {level.word_bits} bits"
        kept = "keeps all" if level.keep == ["*"] else "keeps " + ", ".join(level.keep)
        fan = level.fanout
        below = (
            f"; {fan.x} below each, carrying {', '.join(fan.x_loops or ['any loop'])}" if fan.x > 1 else ""
        )
        rows.append((level.name, f"{words}; {kept}{below}"))
    rows.append((found.compute.name, f"{found.units} units"))
    return _bands(rows, f"The levels of {found.name}")


def mapping() -> str:
    """The loops of every level in time and in space, and what it keeps."""
    rows = []
    for level in _problem()[1].levels:
        time = " ".join(f"{one.loop}={one.trips}" for one in level.temporal) or "no loop"
        space = " ".join(f"{one.loop}={one.trips}" for one in level.spatial)
        said = f"keeps {', '.join(level.keep)}; {time}" + (f"; in space {space}" if space else "")
        rows.append((level.level, said))
    return _bands(rows, f"A mapping of {WORKLOAD} to {ARCH}")
