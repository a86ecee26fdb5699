"""Two proofs that contradict each other, or a mapping that should not exist, end every command with exit code 4."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mapper as api
from mapper.api.solving import Search
from mapper.solver.method import Effort, Method
from mapper.solver.outcome import Outcome
from mapper.solver.tiling.catalogue import METHODS as TILING
from mapper.store import Store
from tests.mapper.api.contradiction.lie import (
    INFEASIBLE,
    LAYER,
    Lie,
    another_value,
    given,
    kept,
    lying,
    none_at_all,
    told,
    too_tight,
    worse,
)


@pytest.mark.parametrize("as_json", [(), ("--json",)])
@pytest.mark.parametrize("lie", [none_at_all, too_tight, worse])
def test_compare_refuses_two_methods_that_contradict_each_other(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch, lie: Lie, as_json: tuple[str, ...]
) -> None:
    given(monkeypatch, TILING["auto"], TILING["branch-and-bound"], lying("liar", lie))
    document = told(mapper("compare", LAYER, *as_json), here / "mapper.contradiction.json")
    one, other = document["documents"]
    assert one["schema"] == other["schema"] == "mapper.solution/1"
    assert one["certificate"]["method"] == "branch-and-bound" and one["certificate"]["proven"]
    assert "conv5_2" in document["reason"]


def test_help_and_reference_say_what_exit_code_4_is(mapper: Any) -> None:
    code, out, _ = mapper("--help")
    told = "4 two answers contradict each other"
    assert code == 0 and told in " ".join(out.split())
    page = Path(__file__).parents[4] / "docs" / "cli.md"
    assert told in page.read_text(encoding="utf-8")


def test_methods_that_agree_are_compared_as_ever(mapper: Any, here: Path) -> None:
    names = ("branch-and-bound", "opt1+opt2", "soc", "ws1")
    code, _, errors = mapper("compare", LAYER, *(word for name in names for word in ("--method", name)))
    assert code == 0 and "CONTRADICTION" not in errors and not list(here.iterdir())


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_solve_refuses_a_mapping_that_passes_its_own_bound(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch, as_json: tuple[str, ...]
) -> None:
    given(
        monkeypatch,
        lying("auto", lambda found: replace(found, bound=2 * (found.value or 0), proven=False)),
    )
    words = ("solve", LAYER, "-o", "answer.json", *as_json)
    claim, found = told(mapper(*words), here / "answer.json.contradiction.json")["documents"]
    assert claim["parts"][0]["mapping"] is None and found["parts"][0]["mapping"] is not None
    assert claim["certificate"]["bound"] == 2 * found["certificate"]["value"]
    assert found["certificate"]["verified"]


def test_solve_refuses_a_proof_of_another_value_than_the_mapping_has(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given(monkeypatch, lying("auto", another_value))
    told(mapper("solve", LAYER), here / "mapper.contradiction.json")


def test_one_layer_of_a_network_is_enough(mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def search(problem: Any, effort: Effort) -> Outcome[Any]:
        found = TILING["soc"].search(problem, effort)
        return replace(found, bound=2 * (found.value or 0)) if problem.nest.name == "conv4_2" else found

    given(monkeypatch, Method("auto", False, "", search, TILING["soc"].prepare))
    words = ("solve", "resnet-dmazerunner")
    document = told(mapper(*words), here / "mapper.contradiction.json")
    assert document["reason"].startswith("conv4_2: ")
    parts = document["documents"][1]["parts"]
    assert [part["name"] for part in parts if part["mapping"] is not None] == ["conv4_2"]


def test_a_mapping_that_the_referee_rejects_contradicts_nothing(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(found: Outcome[Any]) -> Outcome[Any]:
        assert found.mapping is not None
        # Everything in the register files, which are far too small.
        factors = tuple((1, 1, math.prod(own), 1) for own in found.mapping.factors)
        return replace(found, mapping=replace(found.mapping, factors=factors), value=1, bound=None)

    poor = worse(INFEASIBLE)
    given(monkeypatch, lying("auto", broken))
    kept(Search(store=Store(here / "s.sqlite")), poor, "auto", bound=poor.value, proven=False)
    code, _, errors = mapper("solve", LAYER, "--store", str(here / "s.sqlite"))
    assert code == 1 and "referee rejects" in errors


def test_where_the_file_cannot_be_written_the_line_says_so(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "mapper.contradiction.json").mkdir()
    given(monkeypatch, lying("auto", another_value))
    code, _, errors = mapper("solve", LAYER)
    assert code == 4 and "cannot be written" in errors and len(errors.splitlines()) == 1


@pytest.mark.parametrize(
    "words", [("solve", LAYER, "-o", "/dev/null"), ("sweep", LAYER, "--vary", "rf.bytes=256", "--dry-run")]
)
def test_without_a_file_of_the_command_both_documents_are_in_the_folder_at_hand(
    mapper: Any, here: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    given(monkeypatch, lying("auto", another_value))
    told(mapper(*words), here / "mapper.contradiction.json")
    assert not Path("/dev/null.contradiction.json").exists()


def test_the_library_raises_it_with_both_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, lying("auto", another_value))
    with pytest.raises(api.ContradictionError) as raised:
        api.solve(LAYER)
    assert [document["schema"] for document in raised.value.documents] == ["mapper.solution/1"] * 2
