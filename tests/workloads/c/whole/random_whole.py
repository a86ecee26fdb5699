"""Random functions in C with several loops, as hands write them: loops in a row and inside each other, code before,
between and after them, triangles, while and do loops, breaks, zero trips, negative steps, narrow and unsigned types,
scalars that go on from loop to loop, arrays under two names, and a return between loops.

Nothing in them is undefined with ``-fwrapv``: indices are masked or small, divisors odd, shifts by a few bits, and what
becomes an integer is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

HEAD = """#define N 6
int total = 5; static short table[16]; unsigned char low = 200;
static int clip(int v, int most) { if (v > most) return most; return v; }
"""
ARRAYS = (
    "int a[64], int b[64], float x[64], double d[64], float m[12][12], unsigned char c[64], short h[64], "
    "signed char q[64], unsigned u[64], long l[64], int *p, int *restrict r"
)
INTEGERS = ("a", "b", "c", "h", "q", "u", "l", "p", "r", "w", "table")
WORDS = {"table": 15, "w": 15}
SCALARS = {"s": "int", "t": "unsigned", "z": "short", "o": "unsigned char", "y": "long", "n": "int"}
"""Integer scalars that statements read and write; ``n`` is a parameter."""
LARGE = 63
DECLARED = (
    "int s = 3; unsigned t = 7; short z = -2; unsigned char o = 250; long y = 1; float g = f; double e = 0; "
)
EARLY = (
    "if (n > 99) return; ",
    "if (n > 3) { if (n < 5) { s = 9; return; } z = 4; } ",
    "if (n == 8) { s = 2; } else return; ",
)
"""Ways out of the function before its loops; the second is refused."""


T = TypeVar("T")


class Pick(Protocol):
    """Draws one of several."""

    def __call__(self, several: Sequence[T], /) -> T: ...


@dataclass
class Writer:
    """Writes one function. ``pick`` draws one of several; ``open``: variables of the loops that are open; ``budget``:
    loops that may still be written."""

    pick: Pick
    open: list[str] = field(default_factory=list)
    budget: int = 5

    def function(self) -> str:
        body = "".join(self.statement(0) for _ in range(self.pick((1, 2, 2, 3, 4))))
        while self.budget == 5:
            body += self.loop(0)
        early = self.pick(("",) * 9 + EARLY)
        return (
            f"{HEAD}void f(int n, float f, {ARRAYS}) {{ int i, j, k; int *w = a + 20; {DECLARED}{early}{body}"
            "total += s + z; b[63] = t ^ o; l[63] = y; x[63] = g; d[63] = e; }\n"
        )

    def statement(self, depth: int) -> str:
        """A statement outside innermost loops."""
        kind = self.pick(("loop", "loop", "loop", "plain", "plain", "if"))
        if kind == "loop" and self.budget and len(self.open) < 3:
            return self.loop(depth)
        if kind == "if":
            inside = "".join(self.statement(depth + 1) for _ in range(self.pick((1, 2))))
            other = self.pick(("", f"else {{ {self.plain()} }} "))
            return f"if ({self.steady()}) {{ {inside}}} {other}" if depth < 4 else self.plain()
        return self.plain()

    def loop(self, depth: int) -> str:
        """A loop, with others in it or not."""
        self.budget -= 1
        variable = next(one for one in "ijk" if one not in self.open)
        opening, closing = self.header(variable)
        self.open.append(variable)
        inner = self.budget > 0 and len(self.open) < 3 and self.pick((True, True, False))
        if inner:
            parts = [self.loop(depth + 1)]
            if self.pick((True, True, False)):
                parts.insert(0, "".join(self.plain() for _ in range(self.pick((1, 1, 2)))))
            if self.pick((True, False)):
                parts.append(self.plain())
            if self.budget and self.pick((True, False, False)):
                parts.append(self.loop(depth + 1))
            body = "".join(parts)
        else:
            body = "".join(self.inside() for _ in range(self.pick((1, 1, 2, 3))))
        self.open.pop()
        if closing == "#while":
            step = f"{variable} += {self.pick((1, 1, 2, 3))}; "
            return f"{opening}{{ {body}{step}}} "
        return f"{opening}{{ {body}}} {closing}"

    def header(self, v: str) -> tuple[str, str]:
        outer = self.open[-1] if self.open else "n"
        up = (f"for ({v} = 0; {v} < N; {v}++) ", f"for ({v} = 1; {v} <= 7; {v} += 2) ",
              f"for ({v} = 0; {v} < {outer}; {v}++) ", f"for ({v} = {outer}; {v} < N + 2; {v}++) ",
              f"for ({v} = 2; {v} != 8; {v} += 3) ", f"for ({v} = 3; {v} < 3; {v}++) ",
              f"for ({v} = 0; {v} < 1; {v}++) ", f"for ({v} = 0; {v} <= {outer} / 2; {v} = {v} + 1) ",
              f"for ({v} = 0; n > {v}; ++{v}) ", f"for ({v} = {outer} - 3; {v} < 5; {v}++) ",
              f"for ({v} = 0; {v} < {outer} + 1; {v}++) ")  # fmt: skip
        down = (f"for ({v} = N; {v} > 0; {v}--) ", f"for ({v} = 11; {v} >= 0; {v} -= 4) ",
                f"for ({v} = {outer}; {v} >= 0; --{v}) ", f"for ({v} = 8; {v} > {outer}; {v} -= 2) ")  # fmt: skip
        kind = self.pick(("up",) * 7 + ("down",) * 3 + ("while", "do", "s"))
        if kind == "while":
            return f"{v} = {self.pick((0, 1, 4))}; while ({v} < {self.pick((3, 5, 9))}) ", "#while"
        if kind == "do":
            return f"{v} = {self.pick((0, 2))}; do ", f"while (++{v} < {self.pick((1, 4, 6))}); "
        if kind == "s":
            return f"for ({v} = 0; {v} < 9 - {self.pick(('3', 'n', '(n & 3)'))}; {v}++) ", ""
        return self.pick(up if kind == "up" else down), ""

    def steady(self) -> str:
        """A condition that no data decide."""
        v = self.pick((*self.open, "n"))
        return self.pick((f"{v} % 3 == 1", f"{v} > 2", f"{v} & 1", f"{v} < 40", f"n == 3 || {v} == 2"))

    def inside(self) -> str:
        """A statement of an innermost loop."""
        kind = self.pick(("plain",) * 6 + ("if", "if", "break", "continue", "switch"))
        condition = f"{self.value()} {self.pick(('<', '>', '==', '!=', '>='))} {self.value()}"
        if kind == "if":
            more, other = self.pick(("", self.plain())), self.pick(("", "else " + self.plain()))
            return f"if ({condition}) {{ {self.plain()}{more}}} {other}"
        if kind == "break":
            return f"if ({condition}) break; "
        if kind == "continue":
            return f"if ({condition}) {{ {self.plain()}continue; }} "
        if kind == "switch":
            return (
                f"switch ({self.value()} & 3) {{ case 0: {self.plain()}break; case 2: {self.plain()}"
                f"default: {self.plain()}}} "
            )
        return self.plain()

    def plain(self) -> str:
        """An assignment."""
        kind = self.pick(("array",) * 4 + ("scalar",) * 4 + ("float",) * 3 + ("step", "global"))
        operator = self.pick(("=", "=", "+=", "-=", "^=", "*="))
        if kind == "array":
            return f"{self.element(self.pick(INTEGERS))} {operator} {self.value()}; "
        if kind == "scalar":
            return f"{self.pick(('s', 't', 'z', 'o', 'y'))} {operator} {self.value()}; "
        if kind == "step":
            return self.pick(("s++; ", "z--; ", "++o; ", f"{self.element('a')}++; "))
        if kind == "global":
            return self.pick(
                (
                    f"total += {self.value()}; ",
                    f"low = {self.value()}; ",
                    f"total = clip({self.value()}, 99); ",
                )
            )
        target = self.pick(("g", "e", self.element("x"), self.element("d"), self.cell()))
        operator = self.pick(("=", "=", "+=", "-="))
        return f"{target} {operator} {self.real()}; "

    def element(self, array: str) -> str:
        most = WORDS.get(array, LARGE)
        if array == "w":
            return f"w[{self.index(15)}]"
        return f"{array}[{self.index(most)}]"

    def index(self, most: int) -> str:
        variables = [*self.open, *self.open]
        if bool(self.open) and self.pick((True, True, True, False)):
            one = self.pick(variables)
            if most == LARGE:
                other = self.pick(variables)
                far = self.pick((8, 10, 11))
                return self.pick((
                    f"{one} + {other} + 9", f"{one} + 9", f"2 * {one} + {other} + 14", f"{one} * 3 + 12",
                    f"20 - {one}", f"{one} + {far}", f"{one} * 4 + {other} + 15",
                ))  # fmt: skip
            return f"({one} + {self.pick((0, 1, 2))}) & {most}"
        return self.pick(("3", "11", f"{self.value()} & {most}", f"s & {most}"))

    def cell(self) -> str:
        variables = [*self.open, "n"]
        one, other = self.pick(variables), self.pick(variables)
        return f"m[({one} + {self.pick((0, 1, 2))}) & 7][({other} + {self.pick((0, 1))}) & 7]"

    def value(self, depth: int = 0) -> str:
        """An integer."""
        kind = self.pick(("leaf",) * 4 + ("binary",) * (3 if depth < 2 else 0) + ("load",) * 2)
        if kind == "load" and depth < 2:
            array = self.pick(INTEGERS)
            variable = self.pick((*self.open, "s", "n"))
            return f"{array}[({variable} + {self.pick((0, 1, 5))}) & {WORDS.get(array, LARGE)}]"
        if kind == "binary":
            left, right = self.value(depth + 1), self.value(depth + 1)
            operator = self.pick(
                ("+", "-", "*", "&", "|", "^", "<", "==", "/", "%", ">>", "<<", "?", "&&", "min")
            )
            if operator in ("/", "%"):
                return f"({left} {operator} (({right} & 6) + 3))"
            if operator in (">>", "<<"):
                return f"({left} {operator} ({right} & 3))"
            if operator == "?":
                return f"({left} > {right} ? {left} : {right})"
            if operator == "min":
                return f"clip({left}, {right})"
            return f"({left} {operator} {right})"
        return self.pick((*self.open, *self.open, *SCALARS, "1", "2", "-3", "total", "low", "7u"))

    def real(self, depth: int = 0) -> str:
        """A float or a double that stays small."""
        kind = self.pick(("leaf",) * 3 + ("binary",) * (2 if depth < 2 else 0))
        if kind == "binary":
            left, right = self.real(depth + 1), self.real(depth + 1)
            operator = self.pick(("+", "-", "*", "/"))
            return (
                f"({left} / 3.0f)"
                if operator == "/"
                else f"({left} {operator} {right})"
                if operator != "*"
                else f"({left} * 0.5f)"
            )
        variable = self.pick((*self.open, "n"))
        return self.pick(("f", "g", "e", "1.5f", "0.25", variable, f"x[({variable} + 1) & 63]", f"d[{variable} & 63]",
                          self.cell(), f"x[({variable} * 3) & 63]", f"q[{variable} & 63]"))  # fmt: skip
