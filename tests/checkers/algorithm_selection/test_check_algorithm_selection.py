"""Proofs of algorithm selections are certified; what is wrong is refuted, and what is no proof is malformed."""

from __future__ import annotations

import copy
import importlib.util
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.solver.algorithm_selection import proof as producer
from mapper.solver.algorithm_selection.catalogue import METHODS
from mapper.solver.method import Effort
from mapper.solver.proof import Claim, NotCertifiedError, digest
from mapper.workloads.document import InputError
from mapper.workloads.network.builder import NetworkBuilder
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.source import load_layers
from tests.solver.algorithm_selection.random_selection import problems
from tests.solver.sample import drawn

CHECKER = Path(__file__).parents[3] / "checkers" / "check_algorithm_selection.py"


def _checker() -> Any:
    spec = importlib.util.spec_from_file_location("check_algorithm_selection", CHECKER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


VERDICT: Callable[[Any], tuple[str, str, str]] = _checker().verdict


def _status(document: Any) -> str:
    return VERDICT(document)[1]


def _problem(network: str, machine: str, slack: int | None = None) -> SelectionProblem:
    """The least latency, or with so many per cent of slack the fewest DSP slices."""
    overlay, _ = load_machine(machine)
    assert isinstance(overlay, OverlayMachine)
    problem = SelectionProblem(overlay_network(load_layers(network), overlay))
    if slack is None:
        return problem
    value = METHODS["auto"].search(problem, Effort()).value
    assert value is not None
    return SelectionProblem(problem.network, "dsps", int(value * slack) * overlay.units_per_cycle // 100)


def _claim(problem: SelectionProblem, method: str = "auto") -> Claim[Selection]:
    found = METHODS[method].search(problem, Effort())
    if found.mapping is None:
        return Claim("infeasible", None, None, None)
    return Claim("optimal" if found.proven else "bounded", found.mapping, found.value, found.bound)


def _proof(problem: SelectionProblem, method: str = "auto") -> dict[str, Any]:
    made = producer.prove(problem, _claim(problem, method), Effort())
    read: dict[str, Any] = json.loads(json.dumps(made.to_json("algorithm_selection", "net")))
    return read


@cache
def _text_of(network: str, machine: str, slack: int | None) -> str:
    return json.dumps(_proof(_problem(network, machine, slack)))


def _proof_of(network: str, machine: str, slack: int | None = None) -> dict[str, Any]:
    """What the tests change in many ways is solved once."""
    read: dict[str, Any] = json.loads(_text_of(network, machine, slack))
    return read


@pytest.mark.parametrize(
    ("network", "machine", "slack"),
    [
        ("cifar10", "dynamap-u200", None),
        ("squeezenet", "dynamap-u200-model", None),
        ("squeezenet", "dynamap-u200-paper", None),
        pytest.param("squeezenet", "dynamap-u200", None, marks=pytest.mark.slow),
        pytest.param("squeezenet", "dynamap-u200", 130, marks=pytest.mark.slow),
        pytest.param("squeezenet", "dynamap-u200-model", 130, marks=pytest.mark.slow),
        pytest.param("squeezenet", "dynamap-u200-model", 90, marks=pytest.mark.slow),
        pytest.param("squeezenet", "dynamap-u200-paper", 130, marks=pytest.mark.slow),
    ],
)
def test_a_network_of_the_catalogue_is_certified(network: str, machine: str, slack: int | None) -> None:
    made = _proof_of(network, machine, slack)
    assert made["claim"]["status"] == ("infeasible" if slack == 90 else "optimal")
    assert VERDICT(made)[1:2] == ("certified",)
    assert len(json.dumps(made)) < 100_000


@pytest.mark.parametrize("first", ["a pool on the way", "an average after a stop"])
def test_networks_that_random_ones_have_shown_are_certified(first: str, tmp_path: Path) -> None:
    """Kernels of 130 channels and 5 x 5 taps are too deep for Winograd, so that a pool takes their results."""
    net = NetworkBuilder("shown", 130, 19, 9)
    if first == "a pool on the way":
        x = net.pool(net.convolution(net.input, "conv1", 64, 5, pad=2), "pool1", 2, 1)
    else:
        x = net.convolution(net.pool(net.input, "pool1", 2, 1, mean=True), "conv1", 8, 1)
    (tmp_path / "net.onnx").write_bytes(net.model(net.convolution(x, "conv2", 9, 1), 9).SerializeToString())
    machine, _ = load_machine("dynamap-u200")
    assert isinstance(machine, OverlayMachine)
    network = overlay_network(load_layers(str(tmp_path / "net.onnx")), machine)
    assert (network.layers[0].pooled is not None) == (not network.running.resumed)
    assert _status(_proof(SelectionProblem(network, max_pes=64))) == "certified"


def test_the_program_itself_certifies_a_proof(tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    made = _proof_of("lenet5", "dynamap-u200-model")
    file.write_text(json.dumps({"schema": "mapper.proofs/1", "proofs": [made]}))
    done = subprocess.run(
        [sys.executable, "-I", str(CHECKER), str(file)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "certified: optimal" in done.stdout and "trusted:" in done.stdout


@pytest.mark.parametrize("off", [-1, 1])
def test_a_latency_that_is_off_by_a_cycle_is_refuted(off: int) -> None:
    made = _proof_of("lenet5", "dynamap-u200-model")
    made["claim"]["value"] += off
    made["claim"]["bound"] += off
    assert _status(made) == "refuted"


def test_a_bound_above_what_boxes_show_is_refuted() -> None:
    problem = _problem("lenet5", "dynamap-u200-model")
    worse = _proof(problem, "greedy")
    assert worse["claim"]["status"] == "bounded" and worse["claim"]["value"] > worse["claim"]["bound"]
    assert _status(worse) == "certified"
    best = METHODS["auto"].search(problem, Effort()).value
    assert best is not None and worse["claim"]["value"] > best
    worse["claim"]["bound"] = int(best) + 1
    assert _status(worse) == "refuted"


def test_a_box_that_is_left_out_is_missed() -> None:
    made = _proof_of("lenet5", "dynamap-u200-model")
    for at in range(len(made["evidence"]["boxes"])):
        cut = copy.deepcopy(made)
        del cut["evidence"]["boxes"][at]
        assert _status(cut) == "refuted"


def test_a_feasible_problem_is_not_infeasible() -> None:
    made = _proof_of("lenet5", "dynamap-u200-model", 130)
    made["claim"] = {"status": "infeasible", "value": None, "bound": None}
    made["evidence"]["mapping"] = None
    assert _status(made) == "refuted"


def test_a_least_product_of_energy_and_latency_is_certified() -> None:
    problem = SelectionProblem(_problem("squeezenet", "dynamap-u200-model").network, "edp")
    made = _proof(problem)
    assert VERDICT(made)[1:2] == ("certified",)
    assert float(Fraction(made["claim"]["value"])) == METHODS["auto"].search(problem, Effort()).value
    made["claim"]["value"] = made["claim"]["bound"] = str(Fraction(made["claim"]["value"]) - Fraction(1, 7))
    assert _status(made) == "refuted"


def test_what_leaves_no_array_is_certified_whatever_one_would_cost() -> None:
    """Costs on this machine leave 64 bits, but there is nothing to cost: the array that is given has more PEs."""
    machine, _ = load_machine("dynamap-u200-model")
    assert isinstance(machine, OverlayMachine)
    machine = machine.model_copy(update={"pes": 1, "clock_mhz": 99.991, "bandwidth_gb_s": 1e6})
    problem = SelectionProblem(overlay_network(load_layers("lenet5"), machine), array=(2, 3))
    made = _proof(problem)
    assert made["claim"]["status"] == "infeasible" and VERDICT(made)[1:2] == ("certified",)
    with pytest.raises(InputError, match="leave 64 bits"):
        METHODS["auto"].search(replace(problem, array=None), Effort())


def test_an_array_that_is_given_is_certified_whatever_smaller_ones_would_cost() -> None:
    machine, _ = load_machine("dynamap-u200-model")
    assert isinstance(machine, OverlayMachine)
    machine = machine.model_copy(update={"clock_mhz": 99.991, "bandwidth_gb_s": 1e5})
    given = SelectionProblem(overlay_network(load_layers("lenet5"), machine), array=(64, 64))
    assert VERDICT(_proof(given))[1:2] == ("certified",)
    with pytest.raises(InputError, match="leave 64 bits"):
        METHODS["auto"].search(replace(given, array=(1, 1)), Effort())


@pytest.mark.parametrize("count", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_trying_everything_the_solver_and_the_checker_agree(count: int) -> None:
    seen: Counter[str] = Counter()

    @drawn(count)
    @given(problems())
    def holds(posed: tuple[SelectionProblem, LayerNetwork]) -> None:
        problem, _ = posed
        claim, every = _claim(problem), _claim(problem, "brute-force")
        assert (claim.status, claim.value) == (every.status, every.value)
        try:
            made = producer.prove(problem, claim, Effort()).to_json("algorithm_selection", "")
        except NotCertifiedError as reason:
            seen[str(reason)] += 1
            return
        verdict = VERDICT(json.loads(json.dumps(made)))
        assert verdict[1:2] == ("certified",), verdict
        seen[claim.status] += 1

    holds()
    print(dict(seen))
    assert seen["optimal"] >= 0.5 * count


@pytest.mark.parametrize("count", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_given_formats_of_tensors_are_certified(count: int) -> None:
    seen: Counter[str] = Counter()

    @drawn(count)
    @given(problems(), st.randoms(use_true_random=False))
    def holds(posed: tuple[SelectionProblem, LayerNetwork], draw: random.Random) -> None:
        free = posed[0]
        stores = {
            store.name: draw.choice(labels)
            for store, labels in zip(free.network.stores, free.network.labels, strict=True)
            if draw.random() < 0.7
        }
        problem = replace(free, stores=stores)
        claim, every = _claim(problem), _claim(problem, "brute-force")
        assert (claim.status, claim.value) == (every.status, every.value)
        try:
            made = producer.prove(problem, claim, Effort()).to_json("algorithm_selection", "")
        except NotCertifiedError as reason:
            assert "may be better" in str(reason)
            return
        assert VERDICT(json.loads(json.dumps(made)))[1:2] == ("certified",)
        seen[claim.status] += 1

    holds()
    assert seen["optimal"] >= 0.4 * count


@pytest.mark.parametrize(
    ("network", "tensor", "label"), [("lenet5", "conv1", "winograd"), ("squeezenet", "conv5", "toeplitz")]
)
def test_boxes_for_a_given_format_show_nothing_of_problems_without_it(
    network: str, tensor: str, label: str
) -> None:
    free = _problem(network, "dynamap-u200-model")
    made, best = _proof(replace(free, stores={tensor: label})), _proof(free)
    assert _status(made) == "certified"
    assert made["claim"]["value"] > best["claim"]["value"]
    for store in made["problem"]["stores"]:
        store["given"] = None
    made["problem_sha256"] = digest(made["problem"])
    assert made["problem"] == best["problem"]
    assert _status(made) == "refuted"


def test_the_papers_machine_has_a_proof_of_the_least_product() -> None:
    made = _proof(replace(_problem("lenet5", "dynamap-u200-paper"), objective="edp"))
    assert VERDICT(made)[1:] == ("certified", "optimal 3125216000, 1183 boxes of shapes")
    assert len(json.dumps(made)) < 100_000


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*path, key)
            yield from _places(one, (*path, key))


def _mutated(made: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """A change of claim or evidence; the problem stays, so that its least value is known."""
    changed = copy.deepcopy(made)
    path = draw.choice([one for one in _places(changed) if one[0] in ("claim", "evidence") and len(one) > 1])
    at: Any = changed
    for key in path[:-1]:
        at = at[key]
    old = at[path[-1]]
    if type(old) is int:
        at[path[-1]] = draw.choice([old + 1, old - 1, 2 * old, -old])
    elif isinstance(old, list) and old and draw.random() < 0.7:
        one, other = draw.randrange(len(old)), draw.randrange(len(old))
        old[one], old[other] = old[other], old[one]
        if draw.random() < 0.6:
            del old[draw.choice([slice(one, one + 1), slice(one, None)])]
    else:
        at.pop(path[-1])
    return changed


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_changed_proof_is_accepted_only_where_its_claim_holds(count: int) -> None:
    draw, seen = random.Random(7), Counter[str]()
    whole = [
        _proof_of("lenet5", "dynamap-u200-model"),
        _proof_of("lenet5", "dynamap-u200-paper", 120),
        _proof(_problem("lenet5", "dynamap-u200-model"), "greedy"),
        _proof_of("lenet5", "dynamap-u200"),
    ]
    best = [one["claim"]["value"] for one in (whole[0], whole[1], whole[0], whole[3])]
    for _ in range(count):
        which = draw.randrange(3)
        changed = _mutated(whole[which], draw)
        status = _status(changed)
        seen[status] += 1
        if status == "certified":
            claim = changed["claim"]
            attained = claim["value"] == whole[which]["claim"]["value"] or claim["value"] >= best[which]
            assert attained and claim["bound"] <= best[which], changed["claim"]
            assert claim["status"] == "bounded" or claim["value"] == claim["bound"] == best[which]
    assert seen["refuted"] > 0.1 * count and seen["malformed"] > 0.1 * count


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_changed_problem_ends_soon(count: int) -> None:
    """Whatever sizes a hostile problem has, no check takes long, and none fails but in its own words."""
    draw, seen = random.Random(8), Counter[str]()
    made = _proof_of("lenet5", "dynamap-u200-model")
    places = [one for one in _places(made["problem"]) if one]
    for _ in range(count):
        changed = copy.deepcopy(made)
        path = draw.choice(places)
        at = changed["problem"]
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = draw.choice([-1, 0, 1 << 29, 1 << 62, 1 << 900, "x", None, [], {}, True, [[]], "1/3"])
        changed["problem_sha256"] = digest(changed["problem"])
        seen[_status(changed)] += 1
    assert seen["malformed"] > 0.3 * count


def test_the_evidence_of_another_network_is_refuted() -> None:
    one, other = (_proof_of(name, "dynamap-u200-model") for name in ("lenet5", "alexnet"))
    for part in ("problem", "evidence", "claim"):
        assert _status(one | {part: other[part]}) in ("refuted", "malformed")


NUMBERS: dict[str, tuple[tuple[Any, ...], Any]] = {
    "an array that starts before its time": (("machine", "initialisation", "factor"), -3),
    "an array that starts after all time": (("machine", "initialisation", "factor"), 10**600),
    "a start that is text": (("machine", "initialisation", "factor"), "3"),
    "words that take less than no time": (("machine", "traffic", "overhead_cycles"), -1),
    "words that take all time": (("machine", "traffic", "overhead_cycles"), 10**600),
    "a burst of less than no words": (("machine", "traffic", "burst_words"), -1),
    "less than no room": (("machine", "traffic", "onchip_bytes"), -1),
    "energy won by waiting": (("machine", "energy_pj", "pe_cycle"), "-1/20"),
    "energy won by computing": (("machine", "energy_pj", "mac"), -1),
    "energy won by loading": (("machine", "energy_pj", "dram_byte"), -1),
    "a producer before the first layer": (("stores", 0, "shares", 0, 0), -1),
    "a reader before the first layer": (("stores", 0, "readers", 0), -1),
    "a pool after no layer": (("engines", "max_pools", 0, 0), -1),
    "kernels ahead of the first layer": (("engines", "ahead", 0), 0),
    "DRAM that answers before it is asked": (("engines", "dram_latency"), -1),
    "buffers of less than no words": (("engines", "buffers", "input"), -1),
    "a first layer behind what adds nothing": (("engines", "resumed"), [[0, 0, True]]),
    "a map read channel by channel of none": (("engines", "flattened", 0, 1), 0),
    "a map that stays in less than no words": (("engines", "buffers", "tensor"), -1),
    "a map that stays before the first layer": (("engines", "direct"), [0]),
    "a map that stays for a layer behind a pool": (("engines", "direct"), [1]),
    "a shape without rows": (("array",), [0, 5]),
    "a shape of less than no rows": (("array",), [-1, 5]),
    "a shape of three sides": (("array",), [1, 5, 5]),
    "a shape that is true": (("array",), [True, 5]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_on_which_no_lemma_holds_are_malformed(name: str) -> None:
    """Lemma Box needs times and energies that do not fall with the array, lemma Product such as are not below 0."""
    path, value = NUMBERS[name]
    preset = "dynamap-u200" if path[0] == "engines" else "dynamap-u200-model"
    made = _proof_of("lenet5", preset)
    at = made["problem"]
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    made["problem_sha256"] = digest(made["problem"])
    assert _status(made) == "malformed"


def test_without_a_longest_time_no_selection_is_too_slow() -> None:
    made = _proof_of("lenet5", "dynamap-u200-model")
    made["problem"]["machine"]["initialisation"]["factor"] = 1 << 62
    made["problem_sha256"] = digest(made["problem"])
    made["claim"] = {"status": "infeasible", "value": None, "bound": None}
    made["evidence"] |= {"mapping": None, "boxes": [[1, 65536, 1, 65536]]}
    assert _status(made) == "refuted"
