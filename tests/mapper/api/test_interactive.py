"""The package as people meet it at a prompt: names complete, values tell what they are, pictures show."""

from __future__ import annotations

import inspect
import json
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
    assert {name for name in dir(mapper) if not name.startswith("__")} == {*mapper.__all__} - {"__version__"}


def test_every_public_name_says_what_it_is() -> None:
    assert all(inspect.getdoc(getattr(mapper, name)) for name in mapper.__all__)


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


def test_a_part_and_a_problem_tell_themselves_in_a_line(solved: mapper.Solution) -> None:
    assert repr(solved.posed) == f"<PosedProblem {solved.posed}>"
    (said,) = repr(solved.parts[0]).splitlines()
    assert said.startswith("<Part conv5_2: energy_pj ") and said.endswith("; proven by solver>")


def test_answers_of_rows_tell_themselves_in_a_table_and_show_the_report() -> None:
    swept = mapper.sweep("matmul", None, {"clock_mhz": list(range(100, 114))})
    lines = repr(swept).splitlines()
    assert lines[0] == "<Sweep of matmul on dmazerunner-256: least edp (tiling)"
    assert lines[1].split() == ["clock_mhz", "value", "gap", "proof", "seconds"]
    assert lines[-1] == " and 2 more>" and len(lines) == 15
    assert "<iframe" in swept._repr_html_() and "clock_mhz" in swept._repr_html_()
    compared = mapper.compare("matmul", methods=["branch-and-bound"])
    assert "branch-and-bound" in repr(compared).splitlines()[2]
    assert "energy_pj" in repr(mapper.front("matmul", fix={"padding": "off"})).splitlines()[1]


def test_text_that_ends_as_files_do_names_a_mapping_file(solved: mapper.Solution, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps(solved.to_json()), encoding="utf-8")
    again = mapper.evaluate("resnet-dmazerunner/conv5_2", None, str(tmp_path / "mine.json"))
    assert again.cost == solved.cost
    with pytest.raises(mapper.InputError, match=r"none\.json: cannot be read"):
        mapper.evaluate("matmul", None, "none.json")


def test_a_decision_written_the_other_way_round_is_the_one_that_is_meant() -> None:
    with pytest.raises(mapper.InputError, match=r"did you mean I\.spatial\?"):
        mapper.solve("matmul", fix={"spatial.I": 4})


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
