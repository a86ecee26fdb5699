"""The package as people meet it at a prompt: names complete, values tell what they are, pictures show."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import pytest

import mapper
from mapper.kind.part import Options


@pytest.fixture(scope="module")
def solved() -> mapper.Solution:
    return mapper.solve("resnet-dmazerunner/conv5_2", fix={"spatial": ["Oy", "Ox"]})


def test_every_public_name_is_listed() -> None:
    assert set(mapper.__all__) <= set(dir(mapper))


def test_the_version_is_that_of_the_distribution() -> None:
    assert mapper.__version__ == metadata.version("mapper-engine")


def test_decisions_are_pinned_by_a_dictionary_as_by_options(solved: mapper.Solution) -> None:
    assert solved.posed.options.fix == {"spatial": "Oy,Ox", "padding": "off"}
    by_options = mapper.solve("resnet-dmazerunner/conv5_2", options=Options(fix={"spatial": "Oy,Ox"}))
    assert by_options.cost == solved.cost


def test_a_dictionary_pins_beside_options() -> None:
    assert Options(fix={"M.rf": "8"}).pinned({"N.dram": 1}).fix == {"M.rf": "8", "N.dram": "1"}


def test_a_solution_tells_itself_in_a_few_lines(solved: mapper.Solution) -> None:
    lines = repr(solved).splitlines()
    assert len(lines) == 3 and all(len(line) < 200 for line in lines)
    assert "resnet-dmazerunner/conv5_2 on dmazerunner-256" in lines[0] and "spatial=Oy,Ox" in lines[0]
    assert "edp_pj_cycles" in lines[1] and "proven by solver, gap 0.00%" in lines[2]


def test_a_notebook_shows_the_report_in_a_frame_of_its_own(solved: mapper.Solution) -> None:
    shown = solved._repr_html_()
    assert re.fullmatch(r'<iframe sandbox="allow-scripts" style="[^"]+" srcdoc="[^"]+"></iframe>', shown)
    assert "&lt;svg" in shown and "conv5_2" in shown


def test_a_solution_goes_on_as_it_is_into_every_verb_that_takes_one(
    solved: mapper.Solution, tmp_path: Path
) -> None:
    assert mapper.simulate(solved)["agrees"]
    again = mapper.evaluate("resnet-dmazerunner/conv5_2", None, solved, fix={"spatial": "Oy,Ox"})
    assert again.cost == solved.cost
    written = mapper.generate(solved, str(tmp_path / "out"))
    assert tmp_path / "out" / "mapped.c" in written
