"""Graphs of the Morpher compiler are read as it writes them, or refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_source import load_kernel


def node(key: int, opcode: str, outputs: str = "", parents: str = "") -> str:
    """A node as Morpher writes it: a blank is missing before BB."""
    return (
        f'<Node idx="{key}" ASAP="0" ALAP="0"BB="for.body"CONST="1">\n<OP>{opcode}</OP>\n<Inputs>\n</Inputs>\n'
        f"<Outputs>\n{outputs}</Outputs>\n<RecParents>\n{parents}</RecParents>\n</Node>\n"
    )


def output(to: int, kind: str, later: int = 0) -> str:
    return f'\t<Output idx="{to}" nextiter="{later}" type="{kind}"/>\n'


SUM = (
    '<MutexBB>\n<BB1 name="a">\n</BB1>\n</MutexBB>\n<DFG count="5">\n'
    + node(7, "CMERGE", output(3, "I1"))
    + node(3, "SELECT", output(1, "I2") + output(4, "I1"))
    + node(1, "LOAD", output(2, "I1") + output(2, "PS"))
    + node(4, "ADD", output(3, "I2", later=1))
    + node(2, "STORE", "", '\t<RecParent idx="1"/>\n')
    + "</DFG>\n"
)


def read(folder: Path, text: str) -> Kernel:
    (folder / "sum.xml").write_text(text)
    return load_kernel(str(folder / "sum.xml"))[0]


def test_edges_bring_the_operand_of_their_type_and_pseudo_edges_only_order(tmp_path: Path) -> None:
    graph = read(tmp_path, SUM).graph
    names = [operation.name for operation in graph.operations]
    assert names == ["cmerge7", "select3", "load1", "add4", "store2"]
    assert [one.opcode for one in graph.operations][:3] == ["morpher.cmerge", "morpher.select", "load"]
    assert [
        (names[e.source], names[e.destination], e.operand, e.distance, e.latency) for e in graph.edges
    ] == [
        ("cmerge7", "select3", 0, 0, None),
        ("select3", "load1", 0, 0, None),
        ("select3", "add4", 0, 0, None),
        ("load1", "store2", 1, 0, None),
        ("load1", "store2", None, 0, 1),
        ("add4", "select3", 1, 1, None),
        ("store2", "load1", None, 1, 1),
    ]


def test_two_edges_of_one_type_bring_different_operands(tmp_path: Path) -> None:
    text = SUM.replace(output(3, "I2", later=1), output(3, "I1", later=1))
    graph = read(tmp_path, text).graph
    assert {edge.operand for edge in graph.edges if edge.destination == 1} == {0, 1}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<a/>", "has no <Node>"),
        ('<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + SUM, "declares entities"),
        (SUM.replace('idx="7"', 'idx="3"'), "given to more than one node"),
        (SUM.replace('idx="7"', ""), "has no number of its own"),
        (SUM.replace("<OP>ADD</OP>", ""), "has no <OP>"),
        (SUM.replace(output(4, "I1"), output(9, "I1")), "there is no node '9'"),
        (SUM.replace('RecParent idx="1"', 'RecParent idx="9"'), "there is no node '9'"),
        (SUM.replace('type="I2"', 'type="I9"'), "'I9' is no type"),
        (SUM.replace('nextiter="1"', 'nextiter="x"'), "is not a number"),
        ("<Node>" * 50000, "has no number of its own"),
        ("<" * 200000, "has no <Node>"),
        ("<Node " * 100000, "has no <Node>"),
    ],
)
def test_what_is_no_graph_of_morpher_is_one_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read(tmp_path, text)
    assert "sum.xml" in str(caught.value) and "\n" not in str(caught.value)
