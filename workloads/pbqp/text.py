"""PBQP instances as text, the form of Scholz's solver (``.in``).

Numbers between white space: the number of vertices and of edges; per vertex its number of choices and their costs; per
edge its two vertices, counted from 0, the rows and columns of its matrix, and the matrix row by row. ``inf`` is an
infinite cost. Costs are exact integers unless one is written as a fraction.
"""

from __future__ import annotations

import re
import warnings
from typing import Any, NoReturn

import numpy as np

from mapper.workloads.document import InputError
from mapper.workloads.pbqp.instance import INFINITE, Costs, Integers, PbqpInstance, flat_instance

_INFINITY = re.compile(rb"(?<!\S)\+?inf(?:inity)?(?!\S)", re.IGNORECASE)
_TOKEN = re.compile(rb"\S+")
_NUMBER = re.compile(rb"[+-]?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|inf|infinity)", re.IGNORECASE)
_SENTINEL = str(INFINITE).encode()


def pbqp_from_text(data: bytes, source: str, name: str) -> PbqpInstance:
    """The instance in the text ``data``, called ``name``; errors name ``source``.

    Raises: InputError naming the line of what is wrong.
    """
    return _Reader(data, source).instance(name)


def pbqp_text(instance: PbqpInstance) -> str:
    """The instance as text; reading it gives the same instance."""
    lines = [f"{instance.vertices} {instance.edges}"]
    for vertex in range(instance.vertices):
        lines.append(f"{instance.choices_of(vertex)}")
        lines.append(_row(instance.costs(vertex), instance))
    for edge in range(instance.edges):
        u, v = instance.edge_end[edge].tolist()
        lines.append(f"{u} {v}")
        lines.append(f"{instance.choices_of(u)} {instance.choices_of(v)}")
        lines += [_row(row, instance) for row in instance.matrix(edge)]
    return "\n".join(lines) + "\n"


def _row(costs: Costs, instance: PbqpInstance) -> str:
    return " ".join("inf" if cost == instance.infinity else repr(cost) for cost in costs.tolist())


class _Reader:
    """Walks over the numbers of a text; what it takes is bounded by what is there."""

    def __init__(self, data: bytes, source: str) -> None:
        self.data, self.source = data, source
        self.numbers = self._numbers()
        self.exact = self.numbers.dtype == np.int64
        # A view gives Python numbers one at a time, faster than the array.
        self.view = memoryview(self.numbers)
        self.at = 0

    def _numbers(self) -> Any:
        if _SENTINEL in self.data:
            raise InputError(self.source, "costs", f"{INFINITE} is too large for a cost; scale the costs")
        exact = _parsed(_INFINITY.sub(_SENTINEL, self.data), np.int64)
        if exact is not None:
            return exact
        numbers = _parsed(self.data, np.float64)
        if numbers is None or np.any(np.isnan(numbers)):
            self._name_bad_token()
        if np.count_nonzero(np.isposinf(numbers)) > len(_INFINITY.findall(self.data)):
            raise InputError(
                self.source, "costs", "one is too large for a number; scale the costs, or write inf"
            )
        return numbers

    def _name_bad_token(self) -> NoReturn:
        for number, line in enumerate(self.data.splitlines(), 1):
            for token in _TOKEN.findall(line):
                if not _NUMBER.fullmatch(token):
                    shown = token[:40].decode("ascii", "replace")
                    raise InputError(
                        self.source, f"line {number}", f"{shown!r} is not a cost; give a number or inf"
                    )
        raise InputError(self.source, "", "is not a text of numbers; give a PBQP instance")

    def _fail(self, place: int, remedy: str) -> NoReturn:
        raise InputError(self.source, f"line {self._line(place)}", remedy)

    def _line(self, place: int) -> int:
        """The line of the ``place``-th number; the last one if there are fewer."""
        line, before = 1, 0
        for number, content in enumerate(self.data.splitlines(), 1):
            count = len(content.split())
            if count:
                line = number
            if before + count > place:
                break
            before += count
        return line

    def _count(self, what: str, least: int) -> int:
        """The next number as a count."""
        if self.at >= len(self.numbers):
            self._fail(self.at, f"ends before {what}; complete the file")
        number = self.view[self.at]
        if number != number // 1 or not least <= number < INFINITE:
            self._fail(self.at, f"{what} is {number}; give a whole number of at least {least}")
        self.at += 1
        return int(number)

    def _skip(self, count: int, what: str) -> None:
        if count > len(self.numbers) - self.at:
            left = len(self.numbers) - self.at
            self._fail(
                len(self.numbers), f"{what} calls for {count} numbers but {left} are left; complete the file"
            )
        self.at += count

    def instance(self, name: str) -> PbqpInstance:
        vertices = self._count("the number of vertices", 1)
        edges = self._count("the number of edges", 0)
        # Every vertex and every edge takes some numbers: claims beyond the file end here, before memory is taken.
        if 2 * vertices + 5 * edges > len(self.numbers) - 2:
            called = f"{vertices} vertices and {edges} edges"
            self._fail(0, f"claims {called}, more than {len(self.numbers)} numbers hold; correct it")
        choices = np.empty(vertices, np.int64)
        is_cost = np.ones(len(self.numbers), np.bool_)
        is_cost[:2] = False
        for vertex in range(vertices):
            choices[vertex] = self._count(f"the number of choices of vertex {vertex}", 1)
            is_cost[self.at - 1] = False
            self._skip(int(choices[vertex]), f"vertex {vertex}")
        middle = self.at
        sizes, ends, heads = choices.tolist(), np.empty((edges, 2), np.int64), np.empty(edges, np.int64)
        for edge in range(edges):
            heads[edge] = self.at
            ends[edge] = self._edge(edge, sizes)
        is_cost[(heads[:, None] + np.arange(4)).reshape(-1)] = False
        if self.at < len(self.numbers):
            self._fail(self.at, f"goes on after the last of {edges} edges; correct the number of edges")
        own, paid = self.numbers[:middle][is_cost[:middle]], self.numbers[middle:][is_cost[middle:]]
        try:
            return flat_instance(choices, own, ends, paid, name)
        except InputError as error:
            raise InputError(self.source, error.field, error.remedy) from None

    def _edge(self, edge: int, sizes: list[int]) -> tuple[int, int]:
        """The ends of the next edge, whose matrix is passed over."""
        start = self.at
        try:
            u, v, rows, columns = map(int, self.view[start : start + 4])
            after = start + 4 + rows * columns
            whole = self.exact or (u, v, rows, columns) == tuple(self.view[start : start + 4])
            fits = min(u, v) >= 0 and (rows, columns) == (sizes[u], sizes[v]) and after <= len(self.numbers)
            if whole and fits:
                self.at = after
                return u, v
        except (IndexError, ValueError, OverflowError):
            pass
        # Something is wrong: number by number, to say what.
        u, v = self._vertex(edge, len(sizes)), self._vertex(edge, len(sizes))
        rows, columns = (
            self._count(f"the rows of edge {edge}", 1),
            self._count(f"the columns of edge {edge}", 1),
        )
        if (rows, columns) != (sizes[u], sizes[v]):
            remedy = (
                f"is {rows} x {columns} but must be {sizes[u]} x {sizes[v]}, as its vertices have choices"
            )
            self._fail(start + 2, f"the matrix of edge {edge} ({u} {v}) {remedy}; correct it")
        self._skip(rows * columns, f"edge {edge}")
        return u, v

    def _vertex(self, edge: int, vertices: int) -> int:
        place = self.at
        vertex = self._count(f"a vertex of edge {edge}", 0)
        if vertex >= vertices:
            self._fail(place, f"edge {edge} names vertex {vertex}; vertices count from 0 to {vertices - 1}")
        return vertex


def _parsed(data: bytes, kind: Any) -> Integers | Costs | None:
    """The numbers of a text; None if it has something else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.fromstring(data.decode("ascii"), dtype=kind, sep=" ")
        except (DeprecationWarning, ValueError, UnicodeDecodeError):
            return None
