"""Linear transforms of a few words as straight-line programs of single-precision operations.

Those here are the factored one-dimensional transforms of Winograd's minimal filtering [Lavin and Gray, "Fast
algorithms for convolutional neural networks", 2016], at the points 0, 1, -1 and infinity (four words) and 0, 1, -1,
2, -2 and infinity (six). All constants are powers of two, so that multiplying by them is exact. No two neighbouring
tiles compute the same difference, so that an unrolled body has as many operations as its copies have together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

OPCODES = {"+": "fadd", "-": "fsub", "*": "fmul", "max": "fmax", "min": "fmin"}

Statement = tuple[str, str, str, str]
"""``name = left symbol right``; ``d0``, ``d1`` ... are the words that come in, ``y0``, ``y1`` ... those that go out.
What is no name is a constant."""


@dataclass(frozen=True)
class LinearTransform:
    """What ``outputs`` words become of ``inputs`` words."""

    inputs: int
    outputs: int
    statements: tuple[Statement, ...]

    def first(self, outputs: int) -> tuple[LinearTransform, tuple[int, ...]]:
        """The transform to the first words alone, without what only others need, and which words it reads."""
        wanted = {f"y{number}" for number in range(outputs)}
        kept: list[Statement] = []
        for statement in reversed(self.statements):
            if statement[0] in wanted:
                kept.append(statement)
                wanted |= {statement[1], statement[3]}
        read = tuple(number for number in range(self.inputs) if f"d{number}" in wanted)
        named = {f"d{number}": f"d{place}" for place, number in enumerate(read)}
        statements = tuple(
            (name, named.get(left, left), symbol, named.get(right, right))
            for name, left, symbol, right in reversed(kept)
        )
        return LinearTransform(len(read), outputs, statements), read

    def activated(self, activation: Sequence[tuple[str, str]]) -> LinearTransform:
        """The transform with an activation of each word that goes out: every step combines what the word has become
        with a constant, or with itself as it came in where that is the step's operand ``x``."""
        linear = {f"y{number}": f"z{number}" for number in range(self.outputs)}
        statements = [(linear.get(name, name), *rest) for name, *rest in self.statements]
        for number in range(self.outputs):
            at = f"z{number}"
            for place, (symbol, operand) in enumerate(activation):
                name = f"y{number}" if place == len(activation) - 1 else f"t{number}_{place}"
                statements.append((name, at, symbol, f"z{number}" if operand == "x" else operand))
                at = name
        return LinearTransform(self.inputs, self.outputs, tuple((a, b, c, d) for a, b, c, d in statements))

    @cached_property
    def opcodes(self) -> dict[str, int]:
        """How many operations of each opcode it takes."""
        found: dict[str, int] = {}
        for _, _, symbol, _ in self.statements:
            found[OPCODES[symbol]] = found.get(OPCODES[symbol], 0) + 1
        return found

    def depth(self, latency: dict[str, int]) -> int:
        """Cycles along its longest path, from a word that comes in; ``latency`` of each opcode."""
        ready: dict[str, int] = {}
        for name, left, symbol, right in self.statements:
            ready[name] = max(ready.get(left, 0), ready.get(right, 0)) + latency[OPCODES[symbol]]
        return max(ready[f"y{number}"] for number in range(self.outputs))


def _transform(inputs: int, outputs: int, text: str) -> LinearTransform:
    statements = []
    for line in text.split(";"):
        name, _, left, symbol, right = line.split()
        statements.append((name, left, symbol, right))
    return LinearTransform(inputs, outputs, tuple(statements))


_DATA_4 = _transform(4, 4, "y0 = d0 - d2; y1 = d1 + d2; y2 = d2 - d1; y3 = d1 - d3")
_DATA_6 = _transform(
    6,
    6,
    "a = 4.0f * d2; b = 4.0f * d1; p = d4 - a; q = d3 - b; y1 = p + q; y2 = p - q; r = d4 - d2; e = d1 - d3;"
    "s = 2.0f * e; y3 = r - s; y4 = r + s; g = d0 - d2; h = 4.0f * g; y0 = h + r; k = d5 - d3; l = 4.0f * e;"
    "y5 = k + l",
)
_OUTPUT_2_4 = _transform(4, 2, "p = d0 + d1; y0 = p + d2; q = d1 - d2; y1 = q - d3")
_OUTPUT_2_6 = _transform(
    6,
    2,
    "p = d1 + d2; r = d3 + d4; t = d0 + p; y0 = t + r; q = d1 - d2; s = d3 - d4; u = 2.0f * s; w = q + u;"
    "y1 = w + d5",
)
_OUTPUT_4_6 = _transform(
    6,
    4,
    "p = d1 + d2; q = d1 - d2; r = d3 + d4; s = d3 - d4; t = d0 + p; y0 = t + r; u = 2.0f * s; y1 = q + u;"
    "v = 4.0f * r; y2 = p + v; w = 8.0f * s; x = q + w; y3 = x + d5",
)

DATA = {4: _DATA_4, 6: _DATA_6}
"""By words of a tile's side the transform of its data."""
OUTPUT = {(2, 4): _OUTPUT_2_4, (2, 6): _OUTPUT_2_6, (4, 6): _OUTPUT_4_6}
"""By outputs of a tile's side and words of it the transform of its sums."""
