"""Programs of a TCPA's PEs from the command line: written, executed, refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[4]


@pytest.fixture
def solution(mapper: Any, tmp_path: Path) -> Path:
    path = tmp_path / "mnist.json"
    assert mapper("solve", "mnist-tcpa", "-o", str(path))[0] == 0
    return path


def machine(mapper: Any, folder: Path, **pe: Any) -> Path:
    document = yaml.safe_load(mapper("show", "tcpa-4x4")[1])
    path = folder / "machine.yaml"
    path.write_text(yaml.safe_dump({**document, "processing_element": pe}))
    return path


def test_words_give_the_outputs_and_take_the_cycles_that_were_solved_for(mapper: Any, solution: Path) -> None:
    code, out, _ = mapper("simulate", str(solution), "--words", "--json")
    run = json.loads(out)
    assert code == 0 and run["outputs_equal"] and run["agrees"]
    assert run["cost_simulated"] == run["cost_model"]


def test_words_are_shown_layer_by_layer(mapper: Any, solution: Path) -> None:
    code, out, _ = mapper("simulate", str(solution), "--words")
    assert code == 0 and "words  bits each" in out


def test_programs_are_written_beside_the_configuration(mapper: Any, solution: Path, tmp_path: Path) -> None:
    assert mapper("generate", str(solution), "-o", str(tmp_path / "code"))[0] == 0
    written = {path.name for path in (tmp_path / "code").iterdir()}
    assert written >= {"configuration.json", "conv2.txt", "conv2.pe", "conv2.words.txt"}
    listing = (tmp_path / "code" / "conv0.words.txt").read_text().splitlines()
    page = (ROOT / "docs" / "kind" / "pe-program.md").read_text()
    shown = page.split("```text\n")[1].split("```")[0].splitlines()
    assert len(shown) == 8 and set(shown) <= set(listing)


@pytest.mark.parametrize(
    ("pe", "said"),
    [
        ({"instruction_words": 16}, "conv0 fits the PEs of tcpa-4x4: on 1 to 12 PEs, of 12 it needs"),
        ({"data_registers": 4}, "4 (processing_element.data_registers); raise the limits"),
    ],
)
def test_a_pe_without_room_for_any_program_is_one_line_and_exit_code_1(
    mapper: Any, tmp_path: Path, pe: dict[str, Any], said: str
) -> None:
    code, _, err = mapper("solve", "mnist-tcpa", "--arch", str(machine(mapper, tmp_path, **pe)))
    assert code == 1 and said in err and err.count("\n") == 1


def test_sums_that_take_long_are_solved_for_and_run(mapper: Any, tmp_path: Path) -> None:
    arch, own = machine(mapper, tmp_path, latency={"add": 8}), tmp_path / "own.json"
    assert mapper("solve", "mnist-tcpa", "--arch", str(arch), "-o", str(own))[0] == 0
    for command in (("simulate", str(own), "--words"), ("generate", str(own), "-o", str(tmp_path / "code"))):
        assert mapper(*command)[0] == 0


def test_modes_without_words_are_one_line(mapper: Any, tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    assert mapper("solve", "mnist-tcpa", "--fix", "mode=layer-by-layer", "-o", str(own))[0] == 0
    code, _, err = mapper("simulate", str(own), "--words")
    assert code == 2 and "words are those of layers that work at once" in err


def test_kinds_without_pe_programs_are_one_line(mapper: Any, tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    assert mapper("solve", "dot", "--arch", "srp-4x4", "-o", str(own))[0] == 0
    code, _, err = mapper("simulate", str(own), "--words")
    assert code == 2 and "--words" in err and err.count("\n") == 1


def test_a_machine_with_an_unknown_latency_is_refused(mapper: Any, tmp_path: Path) -> None:
    code, _, err = mapper(
        "solve", "mnist-tcpa", "--arch", str(machine(mapper, tmp_path, latency={"divide": 2}))
    )
    assert code == 2 and "processing_element.latency.divide" in err
