"""When each cluster loads, computes and stores, as a picture [Chang2018, sec. 4]."""

from __future__ import annotations

from xml.sax.saxutils import escape

from mapper.sim.trace_partition.cycle.report import LANE_NAMES, CycleReport, Interval, Lane
from mapper.workloads.text.plain_text import plain

WIDTH, NAMES, BAR, ROW, MARGIN = 1200, 150, 14, 20, 40
LABELS: dict[Lane, str] = {
    "load_buf": "loads to Buf",
    "load_wbuf": "loads to WBuf",
    "load_code": "loads of instructions",
    "compute": "computes",
    "store": "stores",
}
COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#e15759", "#9c755f", "#bab0ac")
"""Layers take them in turn."""


def timeline_picture(title: str, report: CycleReport) -> str:
    """An SVG: a row for each lane of each cluster, a bar for each stretch of work, coloured by layer and named when
    pointed at, and a scale of cycles."""
    clusters = 1 + max((one.cluster for one in report.timeline), default=0)
    rows = [(cluster, lane) for cluster in range(clusters) for lane in LANE_NAMES]
    place = {row: number for number, row in enumerate(rows)}
    colour = {layer.name: COLOURS[at % len(COLOURS)] for at, layer in enumerate(report.layers)}
    end, height = max(1, report.cycles), 2 * MARGIN + ROW * len(rows)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{NAMES + WIDTH + MARGIN}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        f'<text x="4" y="16" font-size="13">{_plain(title)}: {report.cycles:,} cycles</text>',
    ]
    for number, (cluster, lane) in enumerate(rows):
        named = f"cluster {cluster}: {LABELS[lane]}" if clusters > 1 else LABELS[lane]
        lines.append(f'<text x="4" y="{MARGIN + number * ROW + 11}">{named}</text>')
    for one in report.timeline:
        lines.append(
            _bar(one, MARGIN + ROW * place[one.cluster, one.lane], end, colour.get(one.layer, "#999999"))
        )
    base = MARGIN + ROW * len(rows)
    for quarter in range(5):
        x, cycle = NAMES + WIDTH * quarter / 4, end * quarter // 4
        lines.append(f'<line x1="{x:.1f}" y1="{MARGIN - 6}" x2="{x:.1f}" y2="{base}" stroke="#999999"/>')
        lines.append(f'<text x="{x:.1f}" y="{base + 16}" text-anchor="middle">{cycle:,}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _bar(one: Interval, y: int, end: int, colour: str) -> str:
    x, width = NAMES + WIDTH * one.begin / end, max(0.4, WIDTH * (one.end - one.begin) / end)
    busy = one.used / max(1, one.end - one.begin)
    said = f"{_plain(one.layer)}: {LABELS[one.lane]}, cycles {one.begin:,} to {one.end:,}, {busy:.0%} of them"
    return (
        f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{BAR}" fill="{colour}" '
        f'fill-opacity="{0.25 + 0.75 * min(1.0, busy):.2f}"><title>{said}</title></rect>'
    )


def _plain(text: str) -> str:
    """Names from files stay text."""
    return escape(plain(text, 60), {'"': "&quot;"})
