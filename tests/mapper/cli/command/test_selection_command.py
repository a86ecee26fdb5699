"""Algorithm selection from the command line: networks on the overlay, and PBQP instances."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mapper.models.algorithm_selection import layer_cause
from mapper.models.algorithm_selection.layer_cause import Causes, causes
from mapper.sim.algorithm_selection.rtl import network
from mapper.sim.algorithm_selection.rtl.network import RtlStep

COST_KEYS = {"cycles", "latency_ms", "dsps", "energy_pj", "edp_pj_cycles"}
SMALL = """3 3
2
1 2
2
0 inf
3
5 1 0
0 1
2 2
0 5
5 0
1 2
2 3
0 1 2
3 4 inf
0 2
2 3
1 2 3
4 5 6
"""


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.in"
    path.write_text(SMALL)
    return str(path)


def answer(mapper: Any, *words: str) -> dict[str, Any]:
    code, out, _ = mapper(*words, "--json")
    assert code == 0
    document: dict[str, Any] = json.loads(out)
    return document


def test_googlenet_gets_shape_algorithms_and_dataflows_with_proof(mapper: Any) -> None:
    found = answer(mapper, "solve", "googlenet", "--arch", "dynamap-u200-model", "--objective", "latency")
    part = found["parts"][0]
    assert found["problem"]["kind"] == "algorithm_selection"
    assert part["name"] == "googlenet"
    assert set(part["cost"]) == COST_KEYS
    assert part["mapping"]["array"] == [95, 64]
    assert round(part["cost"]["latency_ms"], 4) == 0.7884
    assert part["certificate"]["proven"] and part["certificate"]["verified"]
    convolutions = [name for name in part["mapping"]["choice"] if name.startswith("conv")]
    assert len(convolutions) == 57
    assert set(part["mapping"]["choice"]["conv1"]) == {"algorithm", "dataflow"}
    assert "LRN" in {one["op"] for one in found["skipped"]}


def test_what_runs_beside_the_generated_overlay_is_listed_with_its_least_time(mapper: Any) -> None:
    (beside,) = answer(mapper, "solve", "lenet5", "--arch", "dynamap-u200")["skipped"]
    assert beside["op"] == "Softmax" and 0 < beside["least_ms"] < 1e-3
    (beside,) = answer(mapper, "solve", "lenet5", "--arch", "dynamap-u200-model")["skipped"][-1:]
    assert "least_ms" not in beside
    _, out, err = mapper("solve", "lenet5", "--arch", "dynamap-u200")
    assert "beside the machine at least" in out + err


def test_a_pinned_algorithm_is_kept_and_costs_no_less(mapper: Any) -> None:
    free = answer(mapper, "solve", "lenet5", "--arch", "dynamap-u200")
    words = ("--fix", "conv2.algorithm=kn2row", "--fix", "algorithm=!winograd")
    pinned = answer(mapper, "solve", "lenet5", "--arch", "dynamap-u200", *words)
    choice = pinned["parts"][0]["mapping"]["choice"]
    assert choice["conv2"]["algorithm"] == "kn2row"
    assert all(one["algorithm"] != "winograd" for one in choice.values())
    assert pinned["cost"]["cycles"] >= free["cost"]["cycles"]


def test_fewest_dsps_need_a_throughput(mapper: Any) -> None:
    code, _, err = mapper("solve", "squeezenet", "--arch", "dynamap-u200", "--objective", "dsps")
    assert code == 2
    assert "--min-throughput" in err and len(err.splitlines()) == 1


def test_fewest_dsps_hold_the_throughput(mapper: Any) -> None:
    words = ("lenet5", "--arch", "dynamap-u200", "--objective", "dsps", "--min-throughput", "500")
    part = answer(mapper, "solve", *words)["parts"][0]
    assert part["certificate"]["proven"]
    assert part["cost"]["latency_ms"] <= 2
    assert part["certificate"]["value"] == part["cost"]["dsps"]


@pytest.mark.slow
def test_a_small_overlay_runs_as_verilog_word_for_word(mapper: Any, tmp_path: Path) -> None:
    solution = tmp_path / "mnist.json"
    answer(mapper, "solve", "mnist-tcpa", "--arch", "dynamap-u200", "--max-pes", "16", "-o", str(solution))
    code, out, _ = mapper("simulate", str(solution), "--rtl", "--json")
    run = json.loads(out)
    assert code == 0 and run["outputs_equal"] and run["agrees"]
    rtl = run["parts"][0]["rtl"]
    assert abs(rtl["cycles"] - rtl["cycles_model"]) <= 0.05 * rtl["cycles_model"]
    assert all(step["equal"] for step in run["parts"][0]["rtl"]["steps"])
    assert {"conv0", "conv2", "conv4"} <= {step["name"] for step in run["parts"][0]["rtl"]["steps"]}


@pytest.mark.parametrize("late", [0, 1])
def test_a_layer_of_the_verilog_that_is_too_slow_is_named_and_exits_1_though_the_sum_is_right(
    mapper: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, late: int
) -> None:
    solution, said = tmp_path / "lenet5.json", {}
    answer(mapper, "solve", "lenet5", "--arch", "dynamap-u200", "--max-pes", "16", "-o", str(solution))

    def remembered(*of: Any) -> dict[str, Causes]:
        said.update(causes(*of))
        return said

    def run(*_: Any) -> tuple[RtlStep, ...]:
        """Of Verilog that takes what the model says, but a sixteenth more in a layer and as much less in another."""
        moved = late * (said["conv1"].cycles // 16)
        shift = {"conv1": moved, "conv2": -moved}
        steps = {name: replace(one, moves=one.moves + shift.get(name, 0)) for name, one in said.items()}
        return tuple(RtlStep(name, True, one.cycles, one.cycles, {}, one) for name, one in steps.items())

    monkeypatch.setattr(layer_cause, "causes", remembered)
    monkeypatch.setattr(network, "RtlMachine", lambda *_: nullcontext())
    monkeypatch.setattr(network, "run_network", run)
    code, out, _ = mapper("simulate", str(solution), "--rtl")
    assert code == late
    assert ("cycles off what the model says of them: conv1 (+6." in out) == bool(late)
    assert "beside the overlay, not counted: softmax1 (at least" in out


def test_the_overlay_and_a_coloured_network_are_generated(mapper: Any, tmp_path: Path) -> None:
    solution = tmp_path / "lenet5.json"
    answer(mapper, "solve", "lenet5", "--arch", "dynamap-u200", "-o", str(solution))
    code, out, _ = mapper("generate", str(solution), "-o", str(tmp_path / "out"))
    assert code == 0
    assert {"overlay.sv", "control.hex", "network.svg"} <= {Path(line).name for line in out.splitlines()}
    drawn = (tmp_path / "out" / "network.svg").read_text()
    assert drawn.count('rx="4"') >= 4


def test_a_comparison_says_what_is_saved_and_the_time_of_every_module(mapper: Any) -> None:
    words = ("--method", "joint", "--method", "bl1", "--method", "bl3")
    code, out, _ = mapper("compare", "googlenet-224", "--arch", "dynamap-u200-paper", *words)
    assert code == 0
    assert "latency saved by the best against: joint 0.0%, bl1 25.9%" in out
    modules = re.findall(r"conv\d+ to conv\d+ +[\d.]+ +[\d.]+ +[\d.]+", out)
    assert len(modules) == 10


def test_an_edge_that_costs_nothing_is_none(mapper: Any) -> None:
    code, out, _ = mapper("explain", "googlenet", "--arch", "dynamap-u200")
    # Kernels that wait tie each layer to the one before; the formats of tensors are no choice.
    assert code == 0 and "edges: series-parallel" in out


def test_the_reduction_is_explained_step_by_step(mapper: Any) -> None:
    code, out, _ = mapper("explain", "googlenet", "--arch", "dynamap-u200-model")
    assert code == 0
    assert "66 vertices, 89 edges: series-parallel" in out
    assert re.search(r"conv\d+: between .* and .* \(RII\)", out)


def test_a_pbqp_instance_is_solved_without_a_machine(mapper: Any, small: str) -> None:
    found = answer(mapper, "solve", small)
    assert found["problem"]["kind"] == "algorithm_selection"
    assert found["problem"]["arch"] is None
    assert found["problem"]["objective"] == "value"
    part = found["parts"][0]
    assert part["mapping"] == {"choice": {"0": 0, "1": 0, "2": 1}}
    assert part["cost"] == {"value": 5}
    assert part["certificate"]["proven"] and part["certificate"]["bound"] == 5


def test_every_method_of_pbqp_is_compared(mapper: Any, small: str) -> None:
    rows = answer(mapper, "compare", small)["rows"]
    assert {"elimination", "branch-and-bound", "ilp", "cp-sat", "brute-force"} <= {
        row["method"] for row in rows
    }
    assert {row["certificate"]["value"] for row in rows} == {5}


def test_a_pinned_vertex_without_a_finite_choice_is_proven_infeasible_and_named(
    mapper: Any, small: str
) -> None:
    code, out, err = mapper("solve", small, "--fix", "1=1", "--json")
    part = json.loads(out)["parts"][0]
    assert code == 1
    assert part["certificate"]["proven"] and not part["certificate"]["found"]
    assert "vertex 1" in err and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 0\n2\n1\n", "line"),
        ("1 0\n2\nnan 1\n", "nan"),
        ("-1 0\n", "-1"),
        ("99999999999 0\n2\n", "99999999999"),
    ],
)
def test_a_malformed_instance_is_one_line_and_exit_code_2(
    mapper: Any, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "bad.in"
    path.write_text(text)
    code, _, err = mapper("solve", str(path))
    assert code == 2
    assert "bad.in" in err and len(err.splitlines()) == 1
    assert said in err.lower()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("googlenet", "--fix", "conv999.algorithm=im2col"), "no such layer"),
        (("googlenet", "--fix", "conv1.algorithm=fft"), "im2col"),
        (("googlenet", "--fix", "array=95by64"), "ROWSxCOLUMNS"),
        (("googlenet", "--fix", "conv1.algorithm=winograd"), "leaves nothing"),
        (("googlenet", "--objective", "throughput"), "latency, edp, dsps"),
        (("googlenet", "--model", "magic"), "--model"),
        (("gemm",), "kernel"),
    ],
)
def test_what_cannot_be_posed_is_one_line_and_exit_code_2(
    mapper: Any, words: tuple[str, ...], said: str
) -> None:
    code, _, err = mapper("solve", *words, "--arch", "dynamap-u200")
    assert code == 2
    assert said in err and len(err.splitlines()) == 1


def test_an_instance_takes_no_machine(mapper: Any, small: str) -> None:
    code, _, err = mapper("solve", small, "--arch", "srp-4x4")
    assert code == 2
    assert "no machine" in err
