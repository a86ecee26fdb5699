"""Snowflake on the command line: solve, compare, evaluate, explain, simulate, generate, and their errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mapper as api
from mapper.kind import ENTRIES, kinds

SMALL = ("lenet5", "--arch", "snowflake-1cc")


@pytest.fixture(scope="module")
def solution() -> dict[str, Any]:
    """A proven partition of lenet5."""
    return api.solve("lenet5", "snowflake-1cc").to_json()


@pytest.fixture
def solved(solution: dict[str, Any], tmp_path: Path) -> Path:
    """A file of it, to be changed at will."""
    path = tmp_path / "solution.json"
    path.write_text(json.dumps(solution))
    return path


@pytest.fixture(scope="module")
def generated(solution: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what it becomes."""
    folder = tmp_path_factory.mktemp("generated")
    api.generate(solution, folder)
    return folder


def test_a_network_has_a_part_for_every_layer_and_one_proof(solved: Path) -> None:
    document = json.loads(solved.read_text())
    assert [part["name"] for part in document["parts"]] == [
        "conv1",
        "pool1",
        "conv2",
        "pool2",
        "gemm1",
        "gemm2",
    ]
    assert document["certificate"]["proven"] and document["certificate"]["gap"] == 0
    assert all(part["certificate"]["proven"] for part in document["parts"])
    assert all(part["certificate"]["bound"] is None for part in document["parts"])


def test_a_part_holds_the_decisions_and_steps_of_the_design(solved: Path) -> None:
    mapping = json.loads(solved.read_text())["parts"][0]["mapping"]
    wanted = {"mode", "tile", "order", "resident", "cluster_split", "unit_split", "steps"}
    assert set(mapping) == wanted
    assert set(mapping["tile"]) == {"rows", "columns", "in_channels", "out_channels"}
    assert {step["step"] for step in mapping["steps"]} == {"load", "compute", "store"}


def test_cycles_and_bytes_of_the_parts_add_up(solved: Path) -> None:
    document = json.loads(solved.read_text())
    assert sum(part["cost"]["dram_bytes"] for part in document["parts"]) == document["cost"]["dram_bytes"]
    (softmax,) = document["skipped"]
    hosted = softmax["share_of_time"] * document["cost"]["cycles"]
    assert hosted == pytest.approx(2 * 10 * 2)  # 200 MHz, 100 elements a microsecond
    layers = sum(part["cost"]["cycles"] for part in document["parts"])
    assert layers + round(hosted) == document["cost"]["cycles"] == document["certificate"]["value"]
    causes = document["parts"][0]["breakdown"]["cycles"]
    assert sum(causes.values()) == document["parts"][0]["cost"]["cycles"]


def test_equal_layers_are_said_to_be_the_same(mapper: Any) -> None:
    _, out, _ = mapper("solve", "resnet18", "--arch", "snowflake-1cc", "--method", "greedy", "--json")
    same = {part["name"]: part["same_as"] for part in json.loads(out)["parts"]}
    assert same["conv4"] == "conv2" and same["conv2"] is None


def test_what_the_host_runs_is_listed_with_its_share_of_the_time(solved: Path) -> None:
    (softmax,) = json.loads(solved.read_text())["skipped"]
    assert softmax["op"] == "Softmax"
    assert 0 < softmax["share_of_time"] < 1


def test_the_tables_first_line_is_the_hosts_share_where_it_has_one(mapper: Any) -> None:
    code, out, _ = mapper("solve", *SMALL, "--method", "greedy")
    heading = next(at for at, line in enumerate(out.splitlines()) if line.lstrip().startswith("part"))
    first, second = out.splitlines()[heading + 2 : heading + 4]
    assert code == 0
    assert first.split()[:6] == ["host:", "0.1%", "of", "the", "time", "40"]
    assert second.split()[0] == "conv1"
    assert "host:" not in mapper("solve", "lenet5/conv1", *SMALL[1:], "--method", "greedy")[1].split()


def test_a_solution_evaluates_to_its_own_cost(mapper: Any, solved: Path) -> None:
    code, out, _ = mapper("evaluate", *SMALL, "--mapping", str(solved), "--json")
    assert code == 0
    assert json.loads(out)["cost"] == json.loads(solved.read_text())["cost"]


def test_a_tile_beyond_the_buffer_is_refused_with_its_size(mapper: Any, solved: Path) -> None:
    document = json.loads(solved.read_text())
    pool = next(part for part in document["parts"] if part["name"] == "gemm1")
    pool["mapping"]["tile"]["out_channels"] = 500
    pool["mapping"].pop("steps")
    solved.write_text(json.dumps(document))
    code, out, errors = mapper("evaluate", *SMALL, "--mapping", str(solved), "--json")
    broken = json.loads(out)["certificate"]["broken"]
    assert code == 1 and len(errors.splitlines()) == 1
    assert any(rule["place"] == "gemm1" and rule["size"] > 0 for rule in broken)


def test_the_program_computes_the_references_words_in_the_models_cycles(mapper: Any, solved: Path) -> None:
    code, out, errors = mapper("simulate", str(solved), "--json")
    document = json.loads(out)
    assert code == 0, errors
    assert document["outputs_equal"] and document["max_error"] == 0
    assert len(document["parts"]) == 6
    for part in document["parts"]:
        model, simulated = part["cost_model"]["cycles"], part["cost_simulated"]["cycles"]
        assert abs(model - simulated) <= max(5, 0.05 * simulated), part["name"]


def test_generated_binary_runs_and_its_listing_names_the_layers(
    mapper: Any, solved: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert mapper("generate", str(solved), "-o", str(out))[0] == 0
    assert {path.name for path in out.iterdir()} == {"program.s", "program.snow", "timeline.svg"}
    assert "layer conv1" in (out / "program.s").read_text()
    assert "conv1" in (out / "timeline.svg").read_text()
    assert mapper("simulate", str(solved), "--program", str(out / "program.snow"))[0] == 0
    assert mapper("show", str(out / "program.snow"))[1] == (out / "program.s").read_text()


def test_a_binary_runs_inference_from_python(generated: Path) -> None:
    network = api.load(generated / "program.snow")
    image = np.random.default_rng(0).random((1, 28, 28), dtype=np.float32)
    answer = network.run(image)
    assert isinstance(answer, np.ndarray) and answer.shape == (1, 10)
    assert answer.sum() == pytest.approx(1, abs=0.05)
    np.testing.assert_array_equal(answer, network.run(image[None]))
    with pytest.raises(api.InputError, match="shape"):
        network.run(image[:, :5])


@pytest.mark.parametrize("length", [0, 7, 100, 2000])
def test_a_cut_binary_is_refused_in_one_line(mapper: Any, solved: Path, tmp_path: Path, length: int) -> None:
    mapper("generate", str(solved), "-o", str(tmp_path))
    cut = tmp_path / "cut.snow"
    cut.write_bytes((tmp_path / "program.snow").read_bytes()[:length])
    for words in (("show", str(cut)), ("simulate", str(solved), "--program", str(cut))):
        code, _, errors = mapper(*words)
        assert code == 2 and len(errors.splitlines()) == 1 and "cut.snow" in errors


def test_a_binary_of_another_network_is_refused(mapper: Any, solved: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    mapper("solve", "mnist-tcpa", "--arch", "snowflake-1cc", "-o", str(other), "--quiet")
    mapper("generate", str(other), "-o", str(tmp_path))
    code, _, errors = mapper("simulate", str(solved), "--program", str(tmp_path / "program.snow"))
    assert code == 2 and "another network" in errors


def test_pinned_decisions_are_kept(mapper: Any) -> None:
    words = ("--fix", "conv2.mode=indp", "--fix", "conv2.order=weights_stationary", "--json")
    code, out, _ = mapper("solve", *SMALL, *words)
    mapping = next(part for part in json.loads(out)["parts"] if part["name"] == "conv2")["mapping"]
    assert code == 0
    assert (mapping["mode"], mapping["order"]) == ("indp", "weights_stationary")


def test_two_images_on_two_clusters_have_twice_the_throughput(mapper: Any) -> None:
    one = json.loads(mapper("solve", *SMALL, "--method", "greedy", "--json")[1])["cost"]
    words = (
        "lenet5",
        "--arch",
        "snowflake-1cc",
        "--fix",
        "configuration=2f2i1c",
        "--method",
        "greedy",
        "--json",
    )
    two = json.loads(mapper("solve", *words)[1])["cost"]
    # One host has the images of both: its 40 cycles of Softmax each.
    assert two["cycles"] == one["cycles"] + 40
    assert two["throughput_fps"] == pytest.approx(2 * 2e8 / two["cycles"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("gemm", "--arch", "snowflake-1cc"), "kernel"),
        ((*SMALL, "--fix", "conv9.mode=coop"), "conv9"),
        ((*SMALL, "--fix", "conv1.mode=both"), "conv1.mode"),
        ((*SMALL, "--fix", "conv1.rows=-1"), "conv1.rows"),
        ((*SMALL, "--fix", "configuration=1f1i2c"), "1f1i2c"),
        ((*SMALL, "--fix", "configuration=lots"), "configuration"),
        ((*SMALL, "--objective", "edp"), "latency, traffic, energy"),
        ((*SMALL, "--max-pes", "3"), "--max-pes"),
        (("lenet5", "--arch", "snowflake-3cc"), "snowflake-3cc"),
        (("lenet5", "--arch", "snowflake-1cc@0"), "snowflake-1cc@0"),
    ],
)
def test_what_cannot_be_posed_is_one_line(mapper: Any, words: tuple[str, ...], said: str) -> None:
    code, out, errors = mapper("solve", *words)
    assert code == 2 and not out
    assert said in errors and len(errors.splitlines()) == 1


def test_a_layer_whose_smallest_tile_does_not_fit_is_proven_so(mapper: Any, tmp_path: Path) -> None:
    small = tmp_path / "small.yaml"
    text = mapper("show", "snowflake-1cc")[1]
    small.write_text(text.replace("maps_buffer_bytes: 262144", "maps_buffer_bytes: 1024"))
    code, out, errors = mapper("solve", "alexnet-one-tower", "--arch", str(small), "--json")
    document = json.loads(out)
    assert code == 1 and len(errors.splitlines()) == 1 and "smallest tile" in errors
    assert document["certificate"]["proven"] and not document["certificate"]["found"]
    assert document["cost"] is None and len(document["parts"]) == 11


def test_compare_shows_every_method_and_no_heuristic_beats_the_optimum(mapper: Any) -> None:
    code, out, _ = mapper("compare", "mnist-tcpa", "--arch", "snowflake-1cc", "--json", "--time-limit", "60")
    rows = {row["method"]: row["certificate"] for row in json.loads(out)["rows"]}
    assert code == 0 and {"cp-sat", "dynamic-programming", "greedy", "annealing"} <= set(rows)
    best = rows["cp-sat"]["value"]
    assert rows["cp-sat"]["proven"]
    assert all(row["value"] >= best for row in rows.values() if row["value"] is not None)


def test_explain_shows_the_families_of_the_program(mapper: Any) -> None:
    code, out, _ = mapper("explain", *SMALL)
    assert code == 0
    assert "residency" in out and "one option" in out


def test_every_kind_is_what_its_entry_says() -> None:
    for entry, kind in zip(ENTRIES, kinds(), strict=True):
        assert (entry.name, entry.objectives) == (kind.name, kind.objectives)
