"""Other people's graphs are read as they stand, or refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mapper.workloads.document import InputError
from mapper.workloads.graph.document import kernel_document, kernel_from_document
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_execution import execute
from mapper.workloads.graph.kernel_source import is_kernel, load_kernel

EDGES = "0 4 0 1\n0 3 0 1\n1 2 0 1\n2 1 1 1\n3 4 0 1\n4 5 0 1\n4 0 1 1\n"
GRAPHML = """<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="o" for="node" attr.name="opcode" attr.type="string"/>
<key id="p" for="edge" attr.name="operand" attr.type="int"/>
<key id="d" for="edge" attr.name="distance" attr.type="int"/>
<graph edgedefault="directed"><node id="a"><data key="o">add</data></node><node id="b"/>
<edge source="b" target="a"><data key="p">1</data><data key="d">2</data></edge>
<edge source="a" target="b"/><edge source="a" target="b"/></graph></graphml>"""


def read(folder: Path, name: str, text: str) -> Kernel:
    (folder / name).write_text(text)
    return load_kernel(str(folder / name))[0]


def refused(folder: Path, name: str, text: str) -> str:
    with pytest.raises(InputError) as caught:
        read(folder, name, text)
    line = str(caught.value)
    assert name in line and "\n" not in line
    return line


def shape(kernel: Kernel) -> list[tuple[int, int, int | None, int, int | None]]:
    return [(e.source, e.destination, e.operand, e.distance, e.latency) for e in kernel.graph.edges]


def test_edges_keep_their_order_distances_and_latencies(tmp_path: Path) -> None:
    kernel = read(tmp_path, "bit_edges", EDGES)
    assert kernel.name == "bit"
    assert [item.name for item in kernel.graph.operations] == ["0", "1", "2", "3", "4", "5"]
    assert shape(kernel) == [
        (0, 4, 0, 0, 1), (0, 3, 0, 0, 1), (1, 2, 0, 0, 1), (2, 1, 0, 1, 1),
        (3, 4, 1, 0, 1), (4, 5, 0, 0, 1), (4, 0, 0, 1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "nodes", ["0 phi 4 31 -1\n4 and\n", "4 and\n9 gone\n0 phi", "\x00\xff;;\n", "0 a\n" * 9]
)
def test_a_file_of_names_changes_names_alone_and_is_no_reason_to_refuse(tmp_path: Path, nodes: str) -> None:
    bare = read(tmp_path, "bit_edges", EDGES)
    (tmp_path / "bit_nodes").write_text(nodes)
    kernel, inputs = load_kernel(str(tmp_path / "bit_edges"))
    assert shape(kernel) == shape(bare)
    assert [item.opcode for item in kernel.graph.operations] == [
        item.opcode for item in bare.graph.operations
    ]
    assert len(inputs) == 2


def test_names_beside_the_edges_are_used(tmp_path: Path) -> None:
    (tmp_path / "bit_nodes").write_text("0 phi 4 31 -1\n4 and\n")
    kernel = read(tmp_path, "bit_edges", EDGES)
    assert [item.name for item in kernel.graph.operations] == ["phi0", "1", "2", "3", "and4", "5"]


def test_distance_and_latency_may_be_left_out(tmp_path: Path) -> None:
    kernel = read(tmp_path, "g_edges", "# a comment\n\na b\nb c 2\n")
    assert shape(kernel) == [(0, 1, 0, 0, 1), (1, 2, 0, 2, 1)]


@pytest.mark.parametrize(
    "text", ["1", "1 2 3 4 5", "1 2 x", "1 2 -1", "1 2 99999999999999999999", "", "1 2 0 1.5"]
)
def test_lines_that_are_no_edges_are_refused(tmp_path: Path, text: str) -> None:
    refused(tmp_path, "g_edges", text)


def test_a_cycle_of_distance_zero_is_named(tmp_path: Path) -> None:
    assert "1 -> 2 -> 0 -> 1" in refused(tmp_path, "g_edges", "0 1 0 1\n1 2 0 1\n2 0 0 1\n2 3 0 1")
    assert "a -> a" in refused(tmp_path, "g.dot", "digraph { a -> a [distance=0] }")


def test_an_edge_from_an_operation_to_itself_is_of_the_iteration_before(tmp_path: Path) -> None:
    assert shape(read(tmp_path, "g.dot", "digraph { a -> a }")) == [(0, 0, 0, 1, None)]


def test_dot_gives_opcodes_operands_chains_and_defaults(tmp_path: Path) -> None:
    text = """/* a graph */ strict digraph "G" { node [shape=box]; rankdir=LR // left
        a [opcode=add]; b [opcode="mul", label="say \\"b\\""];
        a -> b -> c [distance=1]; a:n -> b:s [operand=RHS latency=3];
        subgraph cluster_0 { edge [distance=2] c -> a [operand=0]; } c [opcode=load] }"""
    kernel = read(tmp_path, "g.dot", text)
    assert [item.opcode for item in kernel.graph.operations] == ["add", "mul", "load"]
    assert shape(kernel) == [(0, 1, 0, 1, None), (1, 2, 0, 1, None), (0, 1, 1, 0, 3), (2, 0, 0, 2, None)]


def test_constants_that_a_drawing_leaves_out_are_zero_and_said_so(tmp_path: Path) -> None:
    kernel = read(tmp_path, "g.dot", "digraph { a [opcode=add]; a -> a [operand=0, distance=1] }")
    assert kernel.graph.operations[0].immediates == ((1, 0),)
    assert "taken to be 0" in kernel.notes[0]


def test_drawn_loads_and_stores_without_arrays_are_read_back_from_a_document(tmp_path: Path) -> None:
    text = "digraph { a [opcode=load]; b [opcode=load]; c [opcode=add]; d [opcode=store]; a -> c; b -> c; c -> d }"
    kernel = read(tmp_path, "g.dot", text)
    assert kernel_from_document(kernel_document(kernel), "document") == kernel
    counted = kernel_document(kernel) | {"trip_count": 8}
    with pytest.raises(InputError, match="a: touches no declared array"):
        kernel_from_document(counted, "document")


@pytest.mark.parametrize(
    "text",
    ["graph { a -- b }", "digraph { a -- b }", "digraph { a -> ", "digraph { a -> b [operand=x", "digraph {", "",
     "digraph " + "{" * 100000, "digraph { a -> b [operand=999999999999999999] }", 'digraph { "a', "digraph { a <> b }",
     "digraph { a -> b [operand=0]; c -> b [operand=0] }", "digraph { a:", "digraph {}"],
)  # fmt: skip
def test_broken_dot_is_refused(tmp_path: Path, text: str) -> None:
    refused(tmp_path, "g.dot", text)


def test_graphml_keeps_the_order_of_its_edges(tmp_path: Path) -> None:
    kernel = read(tmp_path, "g.graphml", GRAPHML)
    assert [item.opcode for item in kernel.graph.operations] == ["add", "op"]
    assert shape(kernel) == [(1, 0, 1, 2, None), (0, 1, 0, 0, None), (0, 1, 1, 0, None)]


@pytest.mark.parametrize(
    "text",
    ["", "<graphml", "<a/>", GRAPHML.replace('"directed"', '"undirected"'), '<!DOCTYPE x [<!ENTITY a "b">]>' + GRAPHML,
     GRAPHML.replace('<data key="d">2</data>', '<data key="q">2</data>'),
     GRAPHML.replace('<data key="d">2</data>', '<data key="d">two</data>')],
)  # fmt: skip
def test_broken_graphml_is_refused(tmp_path: Path, text: str) -> None:
    refused(tmp_path, "g.graphml", text)


def document(**changes: object) -> str:
    fields: dict[str, object] = {
        "schema": "mapper.dfg/1",
        "name": "count",
        "trip_count": 3,
        "arrays": [{"name": "y", "words": 3, "written": True}],
        "operations": [
            {"name": "i", "opcode": "add", "immediates": {"1": 1}},
            {"name": "put", "opcode": "store", "array": "y"},
        ],
        "edges": [
            {"from": "i", "to": "i", "operand": 0, "distance": 1, "initial": [-1]},
            {"from": "i", "to": "put", "operand": 0},
            {"from": "i", "to": "put", "operand": 1},
        ],
    }
    return json.dumps({**fields, **changes})


def test_a_document_of_the_projects_own_runs(tmp_path: Path) -> None:
    kernel = read(tmp_path, "g.json", document())
    assert execute(kernel, {"y": np.zeros(3, np.int32)})["y"].tolist() == [0, 1, 2]


EDGE = {"from": "i", "to": "put", "operand": 0}
LOOP = {"from": "i", "to": "i", "operand": 0, "distance": 1}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"schema": "mapper.dfg/9"}, "schema"),
        ({"operations": []}, "operations"),
        ({"operations": [{"name": "i", "opcode": "add", "immediates": {"one": 1}}]}, "positions"),
        ({"operations": [{"name": "i", "opcode": "add"}] * 2}, "same name"),
        ({"operations": [{"name": "i", "opcode": "add"}], "edges": []}, "2 operands"),
        ({"edges": [{"from": "i", "to": "gone", "operand": 0}]}, "no operation 'gone'"),
        ({"edges": [LOOP, EDGE, EDGE]}, "twice"),
        ({"edges": [{**EDGE, "distance": 2, "initial": [1]}]}, "one per iteration"),
        ({"edges": [{**EDGE, "distance": -1}]}, "distance"),
        ({"edges": [{**EDGE, "colour": 1}]}, "unknown key"),
        ({"arrays": []}, "declared array"),
        ({"arrays": [{"name": "y", "words": 3}]}, "written"),
        ({"trip_count": 0}, "trip_count"),
    ],
)
def test_a_wrong_document_is_refused_with_its_field(
    tmp_path: Path, change: dict[str, object], word: str
) -> None:
    assert word in refused(tmp_path, "g.json", document(**change))


def test_files_are_kernels_by_name_and_documents_by_schema(tmp_path: Path) -> None:
    (tmp_path / "graph.json").write_text(document())
    (tmp_path / "nest.json").write_text('{"schema": "mapper.nest/1"}')
    assert is_kernel(str(tmp_path / "graph.json")) and not is_kernel(str(tmp_path / "nest.json"))
    assert all(map(is_kernel, ("gemm", "a.c", "a.c:f", "a.c:f:2", "x.dot", "x.graphml", "x_edges")))
    assert not any(map(is_kernel, ("resnet50", "a.onnx", "a.yaml", "a.c:", "missing.json", "", "a\0.json")))


@pytest.mark.parametrize(
    "name", ["no.c", "no.dot", "no_edges", "no.graphml", "no.json", "nothing", "a\0.c", "no.c:f:1"]
)
def test_a_kernel_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(InputError):
        load_kernel(name)


def test_a_file_beyond_the_limit_is_refused_unread(tmp_path: Path) -> None:
    assert "larger than" in refused(tmp_path, "g.dot", "digraph {" + " " * (1 << 20) + "}")
    assert "larger than" in refused(tmp_path, "g.c", " " * (1 + (1 << 20)))
