"""Files within the largest size that ask for work beyond it are read or refused at once.

No time is asserted: what these inputs took before was minutes, or more memory than there is."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from mapper.workloads.c.kernel import kernel_from_c
from mapper.workloads.document import InputError, parse_document, read_bytes
from mapper.workloads.graph.dot_file import kernel_from_dot
from mapper.workloads.graph.file import read_graph
from mapper.workloads.pbqp.text import pbqp_from_text


def test_edges_into_one_operation_take_its_operands_in_order(tmp_path: Path) -> None:
    path = tmp_path / "many_edges"
    path.write_text("0 1\n" * 40_000)
    kernel, _ = read_graph(str(path))
    assert [edge.operand for edge in kernel.graph.edges] == list(range(40_000))


def test_attributes_of_a_drawing_are_not_kept_for_every_node() -> None:
    attributes = ",".join(f"a{number}=1" for number in range(20_000))
    nodes = ";".join(f"n{number}" for number in range(19_000))
    kernel = kernel_from_dot(f"digraph g {{ node [{attributes},opcode=add] {nodes} }}", "g.dot", "g")
    assert {operation.opcode for operation in kernel.graph.operations} == {"add"}


def test_subgraphs_in_subgraphs_are_refused() -> None:
    with pytest.raises(InputError, match="nested too deeply"):
        kernel_from_dot("digraph g {" + "{" * 900_000, "g.dot", "g")


def test_a_number_of_many_digits_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="line 1: '1111111111111111111111111111111111111111' is not a cost"):
        pbqp_from_text(b"1" * 1_000_000 + b"x", "p.in", "p")


def test_constants_that_make_a_text_long_are_refused() -> None:
    constant = f"#define A ({'1+' * 40}1)\n"
    with pytest.raises(InputError, match="its constants make the text too long"):
        kernel_from_c(constant + "int x = " + "A+" * 20_000 + "1;", "long.c", "k")


def test_a_long_document_is_json_or_nothing() -> None:
    # The rest of a solution that was cut off: as YAML it would be read for minutes.
    text = b'{"a": [' + b"[]," * 400_000
    with pytest.raises(InputError, match=r"is not JSON .*; only documents up to 1048576 bytes may be YAML"):
        parse_document(text, "cut.json", 1 << 28)


def test_a_device_without_an_end_is_refused() -> None:
    with pytest.raises(InputError, match=r"^/dev/zero: larger than 1000 bytes"):
        read_bytes(Path("/dev/zero"), 1000)


@pytest.mark.parametrize("size", [0, 1000, 100_000])
def test_what_comes_through_a_pipe_is_read_whole(size: int) -> None:
    reading, writing = os.pipe()
    sender = threading.Thread(target=lambda: os.fdopen(writing, "wb").write(b"x" * size))
    sender.start()
    assert read_bytes(Path(f"/dev/fd/{reading}"), 100_000) == b"x" * size
    sender.join()
    os.close(reading)
