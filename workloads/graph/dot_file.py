"""Dataflow graphs in Graphviz's dot: nodes with ``opcode``, edges with ``operand``, ``distance``, ``latency``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from mapper.workloads.document import InputError
from mapper.workloads.graph.building import UNKNOWN_OPCODE, DrawnEdge, kernel_of
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.text.structured_text import DEEPEST_NESTING

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)
    |(?P<quoted>"(?:\\.|[^"\\])*")
    |(?P<name>-?(?:\.\d+|\d+(?:\.\d*)?)|[A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*)
    |(?P<mark>->|--|[{}\[\]=;,:])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_SAYING = {"opcode", "operand", "distance", "latency"}
"""The attributes that are read; the others say how a graph is drawn, and there may be many."""
_WORDS = {"graph", "node", "edge", "digraph", "subgraph", "strict"}


def kernel_from_dot(text: str, source: str, name: str) -> Kernel:
    """The graph of a dot file; nodes and edges in the order of the file, subgraphs as if they were not there.

    Raises: InputError if it is no directed graph in dot, or its graph is none that can be scheduled.
    """
    reader = _Reader(text, source)
    reader.graph()
    nodes = [(key, attributes.get("opcode") or UNKNOWN_OPCODE) for key, attributes in reader.nodes.items()]
    edges = [
        DrawnEdge(
            tail, head, attributes.get("operand"), attributes.get("distance"), attributes.get("latency")
        )
        for tail, head, attributes in reader.edges
    ]
    return kernel_of(name, nodes, edges, source)


class _Reader:
    """Reads the tokens of one graph; braces are counted, not followed."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.nodes: dict[str, dict[str, str]] = {}
        self.edges: list[tuple[str, str, dict[str, str]]] = []
        # A port at the very end is skipped together with the name it lacks.
        self._tokens = [*self._split(text), *[("end", "")] * 5]
        self._at = 0
        self._defaults: list[dict[str, dict[str, str]]] = [{"node": {}, "edge": {}}]

    def graph(self) -> None:
        """Reads the file's graph."""
        if self._word() == "strict":
            self._at += 1
        if self._word() != "digraph":
            raise self._fault("is not a directed graph; start it with digraph")
        self._at += 1
        if self._tokens[self._at][0] == "name" or self._tokens[self._at][0] == "quoted":
            self._at += 1
        self._expect("{")
        depth = 1
        while depth:
            kind, token = self._tokens[self._at]
            if kind == "end":
                raise self._fault("ends inside the graph; close its braces")
            if (kind, token) == ("mark", "}"):
                depth -= 1
                self._at += 1
                self._defaults.pop()
            elif (kind, token) == ("mark", "{"):
                depth += 1
                if depth > DEEPEST_NESTING:
                    raise self._fault("is nested too deeply; flatten its subgraphs")
                self._at += 1
                self._defaults.append({key: dict(value) for key, value in self._defaults[-1].items()})
            elif (kind, token) in (("mark", ";"), ("mark", ",")):
                self._at += 1
            else:
                self._statement()

    def _statement(self) -> None:
        word = self._word()
        if word == "subgraph":
            self._at += 1
            if self._tokens[self._at][0] in ("name", "quoted"):
                self._at += 1
        elif word in ("graph", "node", "edge"):
            self._at += 1
            attributes = self._attributes()
            if word != "graph":
                self._defaults[-1][word].update(attributes)
        else:
            self._chain()

    def _chain(self) -> None:
        """A node, an edge or a chain of edges; or an attribute of the graph, which says nothing here."""
        ends = [self._name()]
        if self._is_mark("="):
            self._at += 1
            self._name()
            return
        while self._is_mark("->"):
            self._at += 1
            ends.append(self._name())
        if self._is_mark("--"):
            raise self._fault("has an edge without direction; write ->")
        attributes = self._attributes()
        for end in ends:
            self.nodes.setdefault(end, dict(self._defaults[-1]["node"]))
        if len(ends) == 1:
            self.nodes[ends[0]].update(attributes)
        for tail, head in pairwise(ends):
            self.edges.append((tail, head, {**self._defaults[-1]["edge"], **attributes}))

    def _attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self._is_mark("["):
            self._at += 1
            while not self._is_mark("]"):
                key = self._name()
                value = "true"
                if self._is_mark("="):
                    self._at += 1
                    value = self._name()
                if key in _SAYING:
                    found[key] = value
                if self._is_mark(",") or self._is_mark(";"):
                    self._at += 1
            self._at += 1
        return found

    def _name(self) -> str:
        kind, token = self._tokens[self._at]
        if kind not in ("name", "quoted"):
            raise self._fault(f"has {token[:20]!r} where a name should stand; correct it")
        self._at += 1
        if self._is_mark(":"):
            # A port says where a line is drawn, not what it carries.
            self._at += 2
            if self._is_mark(":"):
                self._at += 2
        return re.sub(r"\\(.)", r"\1", token[1:-1]) if kind == "quoted" else token

    def _word(self) -> str:
        kind, token = self._tokens[self._at]
        return token.lower() if kind == "name" and token.lower() in _WORDS else ""

    def _is_mark(self, mark: str) -> bool:
        return self._tokens[self._at] == ("mark", mark)

    def _expect(self, mark: str) -> None:
        if not self._is_mark(mark):
            raise self._fault(f"lacks {mark!r}; correct it")
        self._at += 1

    def _split(self, text: str) -> Iterator[tuple[str, str]]:
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                line = text.count("\n", 0, at) + 1
                raise InputError(
                    self.source, f"line {line}", f"{text[at : at + 10]!r} is not dot; correct it"
                )
            if found.lastgroup != "space":
                yield found.lastgroup or "", found[0]
            at = found.end()

    def _fault(self, remedy: str) -> InputError:
        return InputError(self.source, "", remedy)
