"""When the layers work on the first frames: their starts and how they overlap [Heidorn2019, Fig. 5(b)]."""

from __future__ import annotations

from mapper.codegen.pe_allocation.picture import plain, shade
from mapper.models.pe_allocation.cost import AllocationCost

FRAMES = 3
"""Frames drawn: one fills the pipeline, the others show how often they come."""
WIDTH, NAMES, BAR, ROW, MARGIN = 420, 84, 16, 22, 36
COLUMNS, LEAST_COLUMNS = 72, 20
MARKS = "012"


def chart(title: str, names: tuple[str, ...], cost: AllocationCost) -> str:
    """A Gantt chart as SVG: a row a layer, a bar a frame from the layer's start on, as long as its latency."""
    end = _end(cost)
    height = MARGIN + ROW * len(names) + MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{NAMES + WIDTH + MARGIN}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        f'<text x="4" y="16" font-size="13">{plain(title)}: latency {cost.cycles:,} cycles, '
        f"a frame every {cost.interval:,}</text>",
    ]
    for row, (name, timing) in enumerate(zip(names, cost.timed, strict=True)):
        y = MARGIN + row * ROW
        lines.append(f'<text x="4" y="{y + 12}">{plain(name, NAMES // 7)}</text>')
        for frame in range(FRAMES):
            start = timing.start + frame * cost.interval
            x, width = NAMES + WIDTH * start / end, max(1.0, WIDTH * timing.latency / end)
            lines.append(
                f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{shade(row)}" '
                f'fill-opacity="{1 - 0.3 * frame:.1f}" stroke="#666666"><title>{plain(name)}, frame {frame}: cycles '
                f"{start:,} to {start + timing.latency:,}</title></rect>"
            )
            if width > BAR:
                lines.append(f'<text x="{x + 4:.1f}" y="{y + 12}" font-size="9">{frame}</text>')
    base = MARGIN + ROW * len(names)
    for frame in range(FRAMES):
        for cycle in (frame * cost.interval, frame * cost.interval + cost.cycles):
            x = NAMES + WIDTH * cycle / end
            lines.append(
                f'<line x1="{x:.1f}" y1="{MARGIN - 6}" x2="{x:.1f}" y2="{base}" stroke="#999999" '
                'stroke-dasharray="2 3"/>'
            )
    lines.append(f'<text x="{NAMES}" y="{base + 16}">0</text>')
    lines.append(f'<text x="{NAMES + WIDTH}" y="{base + 16}" text-anchor="end">{end:,}</text>')
    middle = NAMES + WIDTH / 2
    lines.append(
        f'<text x="{middle:.0f}" y="{base + 16}" text-anchor="middle">cycles since the first frame</text>'
    )
    return "\n".join([*lines, "</svg>", ""])


def chart_lines(names: tuple[str, ...], cost: AllocationCost, room: int | None = None) -> list[str]:
    """The same as text, in lines that have ``room`` for so many characters: the number of the frame that a layer works
    on, ``+`` where one ends and the next begins within a column, blank where it waits."""
    end = _end(cost)
    longest = max(map(len, names))
    columns = COLUMNS if room is None else max(LEAST_COLUMNS, min(COLUMNS, room - longest - 3))
    lines = []
    for name, timing in zip(names, cost.timed, strict=True):
        cells = [" "] * columns
        for frame in range(FRAMES):
            start = timing.start + frame * cost.interval
            first = min(columns - 1, start * columns // end)
            last = max(first, -(-(start + timing.latency) * columns // end) - 1)
            for column in range(first, last + 1):
                cells[column] = MARKS[frame] if cells[column] == " " else "+"
        lines.append(f"{name:<{longest}} |{''.join(cells)}|")
    lines.append(f"{'':<{longest}}  0{f'{end:,} cycles':>{columns - 1}}")
    return lines


def _end(cost: AllocationCost) -> int:
    """When the last of the frames is done, at which every bar has ended."""
    last = max(timing.start + timing.latency for timing in cost.timed)
    return max(last, cost.cycles) + (FRAMES - 1) * cost.interval
