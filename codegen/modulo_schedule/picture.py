"""A modulo schedule as a picture: PEs down, cycles of the II across."""

from __future__ import annotations

from html import escape

from mapper.arch.cgra import CgraMachine
from mapper.models.modulo_schedule.configuration.word import Configuration, Word
from mapper.workloads.text.plain_text import plain

CELL_WIDTH, CELL_HEIGHT, MARGIN = 132, 34, 56
SHADES = ("#dbe9f6", "#fde3c8", "#dcefd9", "#f5d9de", "#e6def2", "#efe9cf")
MOVE_SHADE = "#ededed"
LONGEST_NAME = 17


def picture(configuration: Configuration, machine: CgraMachine) -> str:
    """The schedule as SVG; operations are shaded by stage, moves are grey."""
    width = MARGIN + configuration.ii * CELL_WIDTH + 1
    height = MARGIN + len(machine.all_pes) * CELL_HEIGHT + 1
    title = f"{configuration.kernel} on {configuration.machine}: II {configuration.ii}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        f'<text x="4" y="16" font-size="13">{_text(title)}, {configuration.stages} stages</text>',
    ]
    for slot in range(configuration.ii):
        lines.append(f'<text x="{MARGIN + slot * CELL_WIDTH + 4}" y="{MARGIN - 8}">cycle {slot}</text>')
    words: dict[tuple[tuple[int, int], int], list[Word]] = {}
    for word in configuration.words:
        words.setdefault((word.pe, word.slot), []).append(word)
    for row, pe in enumerate(machine.all_pes):
        y = MARGIN + row * CELL_HEIGHT
        lines.append(f'<text x="4" y="{y + 20}">[{pe[0]},{pe[1]}]</text>')
        for slot in range(configuration.ii):
            lines += _cell(words.get((pe, slot), []), MARGIN + slot * CELL_WIDTH, y)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _cell(words: list[Word], x: int, y: int) -> list[str]:
    shade = "#ffffff"
    if words:
        shade = MOVE_SHADE if words[0].operation is None else SHADES[words[0].stage % len(SHADES)]
    frame = f'<rect x="{x}" y="{y}" width="{CELL_WIDTH}" height="{CELL_HEIGHT}"'
    lines = [f'{frame} fill="{shade}" stroke="#999999"/>']
    if words:
        names = " / ".join(word.operation or word.opcode for word in words)
        kinds = " / ".join(f"{word.opcode} @S{word.stage}" for word in words)
        lines.append(f'<text x="{x + 4}" y="{y + 14}">{_text(names)}</text>')
        lines.append(f'<text x="{x + 4}" y="{y + 28}" fill="#666666">{_text(kinds)}</text>')
    return lines


def _text(text: str) -> str:
    return escape(plain(text, 4 * LONGEST_NAME))
