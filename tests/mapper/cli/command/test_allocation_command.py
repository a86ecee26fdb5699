"""Networks on tightly coupled processor arrays from the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

COST_KEYS = {"pes", "throughput_fps", "cycles", "latency_ms", "buffer_bytes"}
LAYERS = ["conv0", "pool1", "conv2", "pool3", "conv4"]


def answer(mapper: Any, *words: str) -> dict[str, Any]:
    code, out, _ = mapper(*words, "--json")
    assert code == 0
    document: dict[str, Any] = json.loads(out)
    return document


def test_the_papers_network_reaches_its_throughput_on_16_pes_with_proof(mapper: Any) -> None:
    words = ("--arch", "tcpa-4x4", "--objective", "throughput", "--model", "calculus")
    found = answer(mapper, "solve", "mnist-tcpa", *words)
    part = found["parts"][0]
    assert found["problem"]["kind"] == "pe_allocation"
    assert found["problem"]["options"]["model"] == "calculus"
    assert part["name"] == "mnist-tcpa"
    assert set(part["cost"]) == COST_KEYS
    assert part["cost"]["throughput_fps"] == part["certificate"]["bound"] == 50e6 / 63504
    assert part["cost"]["cycles"] == 66528
    assert part["cost"]["buffer_bytes"] == 12068
    assert part["certificate"]["proven"] and part["certificate"]["verified"]
    assert [one["name"] for one in found["skipped"]] == ["gemm1"]
    assert found["skipped"][0]["share_of_time"] is None


def test_the_default_model_is_the_one_that_the_simulator_confirms(mapper: Any, tmp_path: Path) -> None:
    solution = tmp_path / "mnist.json"
    found = answer(mapper, "solve", "mnist-tcpa", "-o", str(solution))
    assert found["problem"]["options"]["model"] == "streaming"
    assert found["certificate"]["proven"]
    run = answer(mapper, "simulate", str(solution))
    assert run["agrees"] and run["cost_simulated"] == found["cost"]


@pytest.mark.parametrize("command", ["solve", "compare"])
def test_tables_name_the_calculus(mapper: Any, command: str) -> None:
    words = (command, "mnist-tcpa", *(("--method", "greedy") if command == "compare" else ()))
    _, named, _ = mapper(*words, "--model", "calculus")
    _, plain, _ = mapper(*words)
    assert re.search(r" model .*\n.*\n.* calculus ", named) and "model" not in plain


def test_a_sweeps_table_names_the_calculus(mapper: Any) -> None:
    words = ("sweep", "mnist-tcpa", "--arch", "tcpa-4x4", "--vary", "clock_mhz=40,50", "--method", "greedy")
    _, named, _ = mapper(*words, "--model", "calculus")
    assert named.count(" calculus ") == 2


def test_a_limit_on_buffers_is_kept_by_idle_cycles(mapper: Any) -> None:
    """The paper's example: by the calculus 12,068 bytes do, as it is configured it needs 13,704; slower layers need
    less, at the same throughput."""
    found = answer(mapper, "solve", "mnist-tcpa", "--max-buffer", "12500")
    assert found["certificate"]["proven"] and found["cost"]["throughput_fps"] == 50e6 / 63504
    assert found["cost"]["buffer_bytes"] <= 12500


@pytest.mark.parametrize("model", ["calculus", "streaming"])
def test_a_limit_on_buffers_holds_for_what_the_simulator_counts(
    mapper: Any, tmp_path: Path, model: str
) -> None:
    solution = tmp_path / "mnist.json"
    answer(mapper, "solve", "mnist-tcpa", "--model", model, "--max-buffer", "12500", "-o", str(solution))
    assert answer(mapper, "simulate", str(solution))["cost_simulated"]["buffer_bytes"] <= 12500


def test_mixed_mode_is_worth_what_the_simulator_measures(mapper: Any, tmp_path: Path) -> None:
    solution = tmp_path / "mnist.json"
    found = answer(mapper, "solve", "mnist-tcpa", "--fix", "mode=mixed", "-o", str(solution))
    assert found["certificate"]["proven"]
    assert round(found["cost"]["throughput_fps"], 1) == 806.3
    run = answer(mapper, "simulate", str(solution))
    assert run["agrees"] and run["cost_simulated"] == found["cost"]


def test_the_mapping_names_every_layer_and_its_place(mapper: Any) -> None:
    mapping = answer(mapper, "solve", "mnist-tcpa")["parts"][0]["mapping"]
    assert list(mapping) == ["mode", "pes", "throttle", "delta", "placement"]
    assert mapping["mode"] == "layer-parallel"
    for decided in ("pes", "throttle", "delta", "placement"):
        assert list(mapping[decided]) == LAYERS
    assert [len(mapping["placement"][name]) for name in LAYERS] == [mapping["pes"][name] for name in LAYERS]


def test_the_placement_of_16_pes_has_the_least_wiring_with_proof(mapper: Any) -> None:
    placement = answer(mapper, "solve", "mnist-tcpa")["parts"][0]["breakdown"]["placement"]
    assert placement["status"] == "optimal"
    assert placement["wiring"] == placement["bound"]


def test_100_frames_a_second_take_six_pes(mapper: Any) -> None:
    words = ("solve", "mnist-tcpa", "--arch", "tcpa-4x4", "--objective", "pes", "--min-throughput", "100")
    part = answer(mapper, *words)["parts"][0]
    assert part["mapping"]["pes"] == dict(zip(LAYERS, [1, 1, 2, 1, 1], strict=True))
    assert part["certificate"]["value"] == part["certificate"]["bound"] == 6


def test_fewest_pes_without_a_throughput_is_one_a_layer(mapper: Any) -> None:
    part = answer(mapper, "solve", "mnist-tcpa", "--objective", "pes")["parts"][0]
    assert set(part["mapping"]["pes"].values()) == {1}


@pytest.mark.parametrize(
    ("fixed", "model", "cycles", "throughput"),
    [
        (
            ("conv0.pes=4", "pool1.pes=1", "conv2.pes=8", "pool3.pes=1", "conv4.pes=2"),
            "calculus",
            159936,
            312.6,
        ),
        ((), "calculus", 73500, 680.3),
        ((), "lanes", 55664, 898.2),
    ],
)
def test_layer_by_layer_reproduces_table_1(
    mapper: Any, fixed: tuple[str, ...], model: str, cycles: int, throughput: float
) -> None:
    pins = [word for pin in ("mode=layer-by-layer", *fixed) for word in ("--fix", pin)]
    cost = answer(mapper, "solve", "mnist-tcpa", "--model", model, *pins)["cost"]
    assert cost["cycles"] == cycles
    assert round(cost["throughput_fps"], 1) == throughput


def test_four_more_pes_reach_the_second_column_of_table_1(mapper: Any) -> None:
    words = ("--arch", "tcpa-4x5", "--fix", "conv2.pes=12", "--model", "calculus")
    cost = answer(mapper, "solve", "mnist-tcpa", *words)["cost"]
    assert cost["cycles"] == 44496
    assert round(cost["throughput_fps"], 1) == 1181.0


def test_trade_offs_are_listed_with_proof(mapper: Any, tmp_path: Path) -> None:
    plot = tmp_path / "front.svg"
    found = answer(mapper, "solve", "mnist-tcpa", "--model", "calculus", "--pareto", "--plot", str(plot))
    assert found["schema"] == "mapper.front/1"
    assert found["complete"]
    assert all(point["certificate"]["proven"] for point in found["points"])
    steps = {round(point["cost"]["throughput_fps"], 1) for point in found["points"]}
    assert {98.4, 196.8, 295.3, 393.7, 472.4, 590.5, 787.4} == steps
    assert plot.read_text().startswith("<?xml")


def test_trade_offs_of_what_is_out_of_reach_are_none_and_the_reason_is_said(mapper: Any) -> None:
    code, _, err = mapper("solve", "mnist-tcpa", "--pareto", "--max-pes", "4")
    assert code == 1
    assert "5 layers" in err and len(err.splitlines()) == 1


def test_a_solution_is_simulated_and_becomes_programs(mapper: Any, tmp_path: Path) -> None:
    solution = tmp_path / "mnist.json"
    answer(mapper, "solve", "mnist-tcpa", "-o", str(solution))
    run = answer(mapper, "simulate", str(solution))
    assert run["outputs_equal"] and run["agrees"] and not run["failed"]
    assert run["cost_simulated"] == run["cost_model"]
    code, out, _ = mapper("generate", str(solution), "-o", str(tmp_path / "out"))
    assert code == 0
    written = {Path(line).name for line in out.splitlines()}
    assert {"configuration.json", "gantt.svg", "placement.svg", "conv0.txt"} <= written


def test_where_the_calculus_is_too_optimistic_the_simulation_says_by_how_much(
    mapper: Any, tmp_path: Path
) -> None:
    solution = tmp_path / "mnist.json"
    answer(mapper, "solve", "mnist-tcpa", "--model", "calculus", "-o", str(solution))
    assert not answer(mapper, "simulate", str(solution))["agrees"]
    code, out, _ = mapper("simulate", str(solution))
    assert code == 0
    assert "66,528 cycles by the model, 85,428 measured" in out
    assert (
        "algorithm 1 in cycle 162,558, algorithm 2 in cycle 6,480, algorithm 3 in cycle 1,620 of conv0" in out
    )
    assert "3 whole convolutions make the array's outputs in the cycles of Eq. 4" in out
    assert re.search(r"beside onnxruntime .* output gemm1.out 1\.\d\d%, .* within 5%; words of 8 bits", out)


def test_a_mapping_of_ones_own_is_costed_and_judged(mapper: Any, tmp_path: Path) -> None:
    mapping = answer(mapper, "solve", "mnist-tcpa", "--model", "calculus")["parts"][0]["mapping"]
    path = tmp_path / "mapping.json"
    mapping["throttle"]["pool1"] = 0
    path.write_text(json.dumps(mapping))
    words = ("--arch", "tcpa-4x4", "--model", "calculus", "--mapping", str(path), "--json")
    code, out, err = mapper("evaluate", "mnist-tcpa", *words)
    certificate = json.loads(out)["parts"][0]["certificate"]
    assert code == 1
    assert not certificate["verified"]
    assert certificate["broken"][0]["place"] == "conv0 to pool1"
    assert "Eq. 9" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--min-throughput", "2000"), "bottleneck is conv2"),
        (("--min-throughput", "1e9"), "bottleneck is conv2"),
        (("--min-throughput", "1e9", "--fix", "mode=mixed"), "in mixed mode"),
        (("--min-throughput", "1e9", "--fix", "mode=layer-by-layer"), "layer by layer"),
        (("--max-pes", "4"), "5 layers"),
        (("--max-buffer", "100", "--model", "calculus"), "12,068 bytes"),
        (("--max-buffer", "12067", "--model", "calculus"), "12,068 bytes"),
        (("--max-buffer", "100"), "at least"),
    ],
)
def test_what_is_out_of_reach_is_proven_so_in_one_line(
    mapper: Any, words: tuple[str, ...], said: str
) -> None:
    code, out, err = mapper("solve", "mnist-tcpa", *words, "--json")
    part = json.loads(out)["parts"][0]
    assert code == 1
    assert part["certificate"]["proven"] and not part["certificate"]["found"]
    assert part["certificate"]["value"] is None and part["certificate"]["bound"] is None
    assert said in err and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("mnist-tcpa", "--model", "magic"), "--model"),
        (("mnist-tcpa", "--model", "lanes"), "mode=layer-by-layer"),
        (("mnist-tcpa", "--fix", "conv9.pes=1"), "conv9"),
        (("mnist-tcpa", "--fix", "conv0.pes=0"), "conv0.pes"),
        (("mnist-tcpa", "--fix", "speed=9"), "unknown decision"),
        (("mnist-tcpa", "--min-throughput", "inf"), "--min-throughput"),
        (("mnist-tcpa/gemm1", "--arch", "tcpa-4x4"), "no convolution"),
        (("gemm", "--arch", "tcpa-4x4"), "kernel"),
        (("mnist-tcpa", "--arch", "tcpa-0x4"), "--arch"),
        (("mnist-tcpa", "--objective", "edp"), "throughput, latency, pes"),
        (("lenet5", "--arch", "tcpa-4x4", "--batch", "2"), "batch"),
    ],
)
def test_what_cannot_be_posed_is_one_line_and_exit_code_2(
    mapper: Any, words: tuple[str, ...], said: str
) -> None:
    code, _, err = mapper("solve", *words)
    assert code == 2
    assert said in err and len(err.splitlines()) == 1


def test_the_mixed_modes_explanation_lists_the_traffic_of_every_fusion(mapper: Any) -> None:
    _, out, _ = mapper("explain", "mnist-tcpa", "--fix", "mode=mixed")
    assert re.search(r"\n +conv0 +– +1,568 +864.00 +12,068\n", out)
    assert re.search(r"\n +layer-by-layer +in and out +69,224 +19.57 +23,520\n", out)


def test_every_method_finds_the_proven_throughput_or_less(mapper: Any) -> None:
    rows = answer(mapper, "compare", "mnist-tcpa", "--time-limit", "5")["rows"]
    assert {"ilp", "cp-sat", "brute-force", "proportional", "greedy"} <= {row["method"] for row in rows}
    best = next(row["certificate"]["value"] for row in rows if row["method"] == "ilp")
    assert all(row["certificate"]["value"] <= best for row in rows)


def test_the_formulation_is_explained_with_figure_7_and_exported(mapper: Any, tmp_path: Path) -> None:
    path = tmp_path / "mnist.lp"
    words = ("--arch", "tcpa-4x4", "--model", "calculus", "--export", "lp", str(path))
    code, out, _ = mapper("explain", "mnist-tcpa", *words)
    assert code == 0
    assert "F_i z_j" in out
    assert re.search(r"pool1 +1 +48 +4 +216 +-> 216 +216 +216 +42,336", out)
    assert path.read_text().startswith("\\*")
