"""Tables that commands print among other lines have a heading, and each cell stands below its own."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from mapper.arch.source import machine_names
from mapper.cli.listing import Listing, listed
from mapper.cli.terminal import broken
from mapper.kind.text_table import text_table, within

NO_SEARCH = ("--store", "none", "--method")


def places(line: str) -> list[tuple[int, int]]:
    """Where the cells of a line begin and end; two blanks part them."""
    return [found.span() for found in re.finditer(r"\S+(?: \S+)*", line)]


def test_words_stand_to_the_left_and_figures_to_the_right() -> None:
    rows = [("conv1", "rows", 1234567, "5.0%"), ("a longer name", "out_channels", 8, "–")]
    assert text_table(("layer", "units by", "cycles", "efficiency"), rows, words={"units by"}) == [
        "layer          units by         cycles  efficiency",
        "conv1          rows          1,234,567        5.0%",
        "a longer name  out_channels          8           –",
    ]


def test_a_table_without_rows_is_its_heading_and_no_line_ends_in_blanks() -> None:
    assert text_table(("name", "description"), ()) == ["name  description"]
    assert text_table(("name", "description"), [("a", "")], words={"description"})[1] == "a"


def test_rows_of_another_length_than_the_heading_are_refused() -> None:
    with pytest.raises(ValueError):
        text_table(("name", "description"), [("a",)])


@pytest.mark.parametrize(
    ("words", "heading", "rows"),
    [
        (
            ("lenet5", "--arch", "snowflake-1cc", *NO_SEARCH, "greedy"),
            [
                "layer",
                "mode",
                "tile",
                "order",
                "units by",
                "stays",
                "cycles",
                "efficiency",
                "GB/s",
                "bound by",
            ],
            ["conv1", "pool1", "conv2", "pool2", "gemm1", "gemm2"],
        ),
        (
            ("lenet5", "--arch", "dynamap-u200", *NO_SEARCH, "bl3"),
            ["layer", "algorithm", "dataflow", "parts", "cycles", "utilisation"],
            ["conv1", "conv2"],
        ),
        (
            ("lenet5/conv1", "--arch", "srp-4x4", *NO_SEARCH, "baseline"),
            ["nest", "innermost", "unrolled", "runs", "iterations", "II", "stages"],
            ["bias", "gemm"],
        ),
        (
            ("mnist-tcpa", "--arch", "tcpa-4x4", *NO_SEARCH, "greedy"),
            ["layer", "PEs", "delta", "z_in", "z_out", "idle", "start", "L"],
            ["conv0", "pool1", "conv2", "pool3", "conv4"],
        ),
    ],
    ids=["trace_partition", "algorithm_selection", "modulo_schedule", "pe_allocation"],
)
def test_a_solution_lists_its_layers_below_headings(
    mapper: Any, words: tuple[str, ...], heading: list[str], rows: list[str]
) -> None:
    code, out, err = mapper("solve", *words)
    assert code == 0, err
    lines = out.splitlines()
    head = next(at for at, line in enumerate(lines) if [line[a:b] for a, b in places(line)] == heading)
    listed = lines[head + 1 : head + 1 + len(rows)]
    assert [line.split()[0] for line in listed] == rows
    for line in listed:
        below = places(line)
        assert len(below) == len(heading), line
        for (start, end), (first, last) in zip(places(lines[head]), below, strict=True):
            assert start == first or end == last, f"a cell of {line!r} stands apart from its heading"


@pytest.mark.parametrize("what", list(Listing))
def test_a_list_has_headings_as_text_and_none_as_json(mapper: Any, what: Listing) -> None:
    code, out, _ = mapper("list", what.value)
    lines = out.splitlines()
    assert code == 0 and re.fullmatch("name +(kind +)?description", lines[0])
    column = lines[0].index("description")
    rows = listed(what)
    assert [(line.split()[0], line[column:]) for line in lines[1:]] == [(r.name, r.description) for r in rows]
    assert json.loads(mapper("list", what.value, "--json")[1]) == [vars(row) for row in rows]


@pytest.mark.parametrize("what", [what for what in Listing if what is not Listing.workloads])
def test_a_list_holds_the_names_of_one_kind_if_one_is_asked_for(mapper: Any, what: Listing) -> None:
    rows = json.loads(mapper("list", what.value, "--kind", "tiling", "--json")[1])
    assert rows == [vars(row) for row in listed(what) if row.kind == "tiling"] != []


@pytest.mark.parametrize("what", ["workloads", "archs"])
def test_a_kind_that_is_none_of_the_list_is_one_line(mapper: Any, what: str) -> None:
    code, _, line = mapper("list", what, "--kind", "tilin")
    assert code == 2 and line.startswith("mapper: --kind: tilin") and len(line.splitlines()) == 1


def test_a_description_does_not_end_within_a_citation() -> None:
    described = {one.name: one.description for one in machine_names()}
    assert described["dmazerunner-256"] == "The accelerator of dMazeRunner [Dave2019, sec. 5]"
    assert all(text.count("[") == text.count("]") for text in described.values())


def test_a_narrow_table_leaves_columns_out_from_the_right_and_says_which() -> None:
    rows = [("conv1", 1234567, 7654321, "rows"), ("conv2", 8, 9, "channels")]
    heading = ("layer", "cycles", "words", "bound by")
    with within(40):
        assert text_table(heading, rows, words={"bound by"})[0].split() == [
            "layer",
            "cycles",
            "words",
            "bound",
            "by",
        ]
    with within(30):
        assert text_table(heading, rows, words={"bound by"}) == [
            "layer     cycles      words",
            "conv1  1,234,567  7,654,321",
            "conv2          8          9",
            "left out at 30 columns: bound by; --wide shows all",
        ]


def test_descriptions_go_on_below_in_their_column() -> None:
    with within(24):
        assert text_table(
            ("name", "description"), [("a", "some words that go on")], words={"description"}
        ) == [
            "name  description",
            "a     some words that go",
            "      on",
        ]


def test_lines_are_broken_between_words_and_charts_are_not() -> None:
    assert broken("  speed  1,000 frames each second", 20) == "  speed  1,000\n    frames each\n    second"
    assert broken("conv1 |000 000 000|", 10) == "conv1 |000 000 000|"
    assert broken("as long as it needs to be", None) == "as long as it needs to be"
