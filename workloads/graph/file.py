"""Files of dataflow graphs: ``*_edges``, Graphviz dot, GraphML, neura's MLIR, Morpher's XML, and the project's own
documents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mapper.workloads.document import InputError, decoded, is_file, parse_document, read_bytes, sha256
from mapper.workloads.graph.building import UNKNOWN_OPCODE, DrawnEdge, kernel_of
from mapper.workloads.graph.document import DFG_SCHEMA, kernel_from_document
from mapper.workloads.graph.dot_file import kernel_from_dot
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.mlir_file import kernel_from_mlir
from mapper.workloads.graph.morpher_file import kernel_from_morpher
from mapper.workloads.network.network import InputFile

LARGEST_GRAPH_BYTES = 1 << 20


def read_graph(text: str) -> tuple[Kernel, tuple[InputFile, ...]]:
    """The kernel in the file ``text``, by the end of its name, and the files read.

    Raises: InputError if it cannot be read or holds no graph that can be scheduled.
    """
    path = Path(text)
    data = read_bytes(path, LARGEST_GRAPH_BYTES)
    inputs: tuple[InputFile, ...] = (InputFile(text, sha256(data)),)
    if text.endswith("_edges"):
        names: dict[str, str] = {}
        beside = path.with_name(path.name.removesuffix("edges") + "nodes")
        if is_file(beside):
            extra = read_bytes(beside, LARGEST_GRAPH_BYTES)
            inputs += (InputFile(str(beside), sha256(extra)),)
            names = _node_names(extra)
        return _kernel_from_edges(decoded(data, text), text, path.name.removesuffix("_edges"), names), inputs
    suffix = path.suffix.lower()
    if suffix == ".dot":
        return kernel_from_dot(decoded(data, text), text, path.stem), inputs
    if suffix == ".graphml":
        return _kernel_from_graphml(data, text, path.stem), inputs
    if suffix == ".mlir":
        return kernel_from_mlir(decoded(data, text), text), inputs
    if suffix == ".xml":
        return kernel_from_morpher(decoded(data, text), text, path.stem), inputs
    fields = parse_document(data, text)
    if fields.get("schema") != DFG_SCHEMA:
        raise InputError(text, "schema", f"is not a schema of a graph; write {DFG_SCHEMA}")
    return kernel_from_document(fields, text), inputs


def _kernel_from_edges(text: str, source: str, name: str, names: dict[str, str]) -> Kernel:
    """A line per edge: source, destination, and, if given, distance (else 0) and latency (else 1)."""
    drawn: list[DrawnEdge] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = re.split(r"[\s,;]+", line.split("#")[0].strip(" \t,;"))
        if words == [""]:
            continue
        if not 2 <= len(words) <= 4 or not all(word.isdecimal() for word in words[2:]):
            raise InputError(
                source, f"line {number}", "is no edge; write source destination distance latency"
            )
        distance = words[2] if len(words) > 2 else "0"
        latency = words[3] if len(words) > 3 else "1"
        drawn.append(DrawnEdge(words[0], words[1], None, distance, latency))
    seen = dict.fromkeys(end for edge in drawn for end in (edge.source, edge.destination))
    keys = sorted(seen, key=int) if all(key.isdecimal() and len(key) < 10 for key in seen) else list(seen)
    shown = {key: f"{names[key]}{key}" if key in names else key for key in keys}
    if len(set(shown.values())) < len(shown):
        shown = {key: key for key in keys}
    renamed = [
        DrawnEdge(shown[edge.source], shown[edge.destination], None, edge.distance, edge.latency)
        for edge in drawn
    ]
    return kernel_of(name, [(shown[key], UNKNOWN_OPCODE) for key in keys], renamed, source)


def _node_names(data: bytes) -> dict[str, str]:
    """Per node its name, from lines that start with both; anything else is left out, for names are no reason
    to refuse a graph."""
    found: dict[str, str] = {}
    for line in data.decode("utf-8-sig", errors="replace").splitlines():
        words = line.split()
        if len(words) >= 2 and re.fullmatch(r"\w{1,20}", words[0]) and re.fullmatch(r"[\w.]{1,40}", words[1]):
            found[words[0]] = words[1]
    return found


def _kernel_from_graphml(data: bytes, source: str, name: str) -> Kernel:
    if re.search(rb"<!\s*(DOCTYPE|ENTITY)", data, re.IGNORECASE):
        raise InputError(source, "", "declares entities, which are not read; remove them")
    nodes, edges = _read_graphml(data, source)
    drawn = [
        DrawnEdge(
            tail,
            head,
            _attribute(values, "operand"),
            _attribute(values, "distance"),
            _attribute(values, "latency"),
        )
        for tail, head, values in edges
    ]
    opcodes = [(key, _attribute(values, "opcode") or UNKNOWN_OPCODE) for key, values in nodes]
    return kernel_of(name, opcodes, drawn, source)


def _read_graphml(
    data: bytes, source: str
) -> tuple[list[tuple[str, dict[str, Any]]], list[tuple[str, str, dict[str, Any]]]]:
    """Nodes and edges with their attributes, in the order of the file."""
    import networkx
    from networkx.readwrite.graphml import GraphMLReader

    in_order: list[tuple[str, str, dict[str, Any]]] = []

    class Reader(GraphMLReader):  # type: ignore[misc]
        """Also keeps the order of the edges, by which routes are numbered."""

        def add_edge(self, graph: Any, element: Any, keys: Any) -> None:
            super().add_edge(graph, element, keys)
            values = self.decode_data_elements(keys, element)
            in_order.append((str(element.get("source")), str(element.get("target")), values))

    text = decoded(data, source)
    try:
        graphs = list(Reader(force_multigraph=True)(string=text))
    except Exception as error:
        # The reader of the library meets broken files with whatever its parts raise.
        reason = f"{type(error).__name__}: {error}"[:200]
        raise InputError(source, "", f"is no GraphML that can be read ({reason}); correct it") from None
    if not graphs or not isinstance(graphs[0], networkx.DiGraph):
        raise InputError(source, "", "holds no directed graph; set edgedefault to directed")
    if len(graphs) > 1:
        raise InputError(source, "", "holds more than one graph; give one")
    return [(str(key), dict(values)) for key, values in graphs[0].nodes(data=True)], in_order


def _attribute(values: dict[str, Any], key: str) -> str | None:
    found = values.get(key)
    return None if found is None else str(found)
