"""The chain of a partition's proof is checked; what its options cost is not restated, so that none is certified."""

from __future__ import annotations

import copy
import importlib.util
import json
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given

from mapper.formulations.trace_partition.problem import PartitionProblem, Pin
from mapper.models.trace_partition.lowering.layer import HostLayer
from mapper.solver.method import Effort
from mapper.solver.proof import Claim, digest
from mapper.solver.trace_partition.catalogue import METHODS
from mapper.solver.trace_partition.proof import prove
from tests.solver.sample import drawn
from tests.solver.trace_partition.random_partition import ONE, layer, machine, network, problems, view

CHECKER = Path(__file__).parents[3] / "checkers" / "check_trace_partition.py"
Document = dict[str, Any]
SHOWN = "the chain shows "


@cache
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_trace_partition", CHECKER)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def verdict_on(document: Document) -> tuple[str, str]:
    _, status, reason = module().verdict(json.loads(json.dumps(document)))
    return status, reason


def proof_of(problem: PartitionProblem) -> Document:
    found = METHODS["dynamic-programming"].search(problem, Effort())
    assert found.proven
    status = "infeasible" if found.mapping is None else "optimal"
    claim = Claim(status, found.mapping, found.value, found.bound)  # type: ignore[arg-type]
    return prove(problem, claim, Effort()).to_json("trace_partition", "network")


@cache
def example() -> Document:
    """Two layers whose maps may stay."""
    first = layer("first", view("image", 4, 4, 16), 16)
    second = layer("second", first.output, 16)
    pins = {
        one.name: Pin(order="maps_stationary", columns=4, in_channels=16, out_channels=16)
        for one in (first, second)
    }
    return proof_of(PartitionProblem(network(first, second), machine(), ONE, "traffic", pins))


def test_what_the_host_takes_stands_at_the_end_of_the_chain() -> None:
    problem = PartitionProblem(network(layer("first", view("image", 4, 4, 16), 16)), machine(), ONE)
    last = problem.network.layers[-1].output
    host = HostLayer("lrn1", "", "LRN", (last,), last, 3000, "has no square roots")
    hosted = replace(problem, network=replace(problem.network, layers=(*problem.network.layers, host)))
    bare, document = proof_of(problem), proof_of(hosted)
    assert document["problem"]["layers"][-1]["costs"] == [hosted.host_part] == [6000]
    assert document["claim"]["value"] == bare["claim"]["value"] + 6000 == document["claim"]["bound"]
    status, reason = verdict_on(document)
    assert (status, reason[: len(SHOWN)]) == ("not certified", SHOWN)
    document["claim"]["value"] = document["claim"]["bound"] = bare["claim"]["value"]
    assert verdict_on(document)[0] == "refuted"


def best_chain(problem: Document) -> int | None:
    """The least floors of any chain, by trying all of them."""
    layers, agreed = problem["layers"], problem["agreed"]

    def least(at: int, place: int) -> int | None:
        floor = layers[at]["floors"][place]
        if floor is None or at == len(layers) - 1:
            return None if floor is None else int(floor)
        ways = [least(at + 1, other) for one, other in agreed[at] if one == place]
        ways = [way for way in ways if way is not None]
        return floor + min(way for way in ways if way is not None) if ways else None

    found = [least(0, place) for place in range(len(layers[0]["floors"]))]
    return min((one for one in found if one is not None), default=None)


def test_a_chain_is_shown_and_not_certified(tmp_path: Path) -> None:
    document = example()
    status, reason = verdict_on(document)
    assert status == "not certified"
    assert reason.startswith(f"{SHOWN}optimal {document['claim']['value']} bytes, but what options cost")
    path = tmp_path / "proofs.json"
    path.write_text(json.dumps({"schema": "mapper.proofs/1", "proofs": [document]}))
    done = subprocess.run([sys.executable, "-I", CHECKER, path], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "the document's" in done.stdout


@pytest.mark.parametrize("count", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_chains_of_random_networks_are_shown(count: int) -> None:
    seen: Counter[str] = Counter()

    @drawn(count)
    @given(problems(2))
    def holds(problem: PartitionProblem) -> None:
        document = proof_of(problem)
        status, reason = verdict_on(document)
        assert (status, reason[: len(SHOWN)]) == ("not certified", SHOWN)
        least, claim = best_chain(document["problem"]), document["claim"]
        assert (least is None) == (claim["status"] == "infeasible")
        if least is not None:
            assert Fraction(claim["value"]) == Fraction(least, document["problem"]["parts"])
            better = {**claim, "value": claim["value"], "bound": str(Fraction(claim["value"]) + 1)}
            assert verdict_on({**document, "claim": better})[0] == "refuted"
        seen[claim["status"]] += 1

    holds()
    assert seen["optimal"] > count // 3


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_what_is_changed_is_shown_only_where_it_is_true(count: int) -> None:
    draw, refused = random.Random(3), 0
    for _ in range(count):
        document = mutated(example(), draw)
        status, reason = verdict_on(document)
        refused += not reason.startswith(SHOWN)
        assert status != "certified"
        if reason.startswith(SHOWN):
            least, claim = best_chain(document["problem"]), document["claim"]
            assert least is not None
            parts = document["problem"]["parts"]
            assert Fraction(claim["bound"]) <= Fraction(least, parts) <= Fraction(claim["value"])
    assert refused > count // 3


def mutated(document: Document, draw: random.Random) -> Document:
    changed = copy.deepcopy(document)
    part = changed[draw.choice(["problem", "claim", "evidence", "evidence"])]
    holders = [(part, key) for key in part]
    for holder, key in holders:
        inner = holder[key]
        if isinstance(inner, dict | list):
            holders += [(inner, at) for at in (inner if isinstance(inner, dict) else range(len(inner)))]
    holder, key = draw.choice(holders)
    value = holder[key]
    if type(value) is int:
        holder[key] = draw.choice([value + 1, value - 1, 2 * value, -value])
    elif isinstance(value, list) and len(value) > 1:
        way = draw.choice(["cut", "swap", "drop"])
        if way == "cut":
            del value[draw.randrange(len(value)) :]
        elif way == "drop":
            del value[draw.randrange(len(value))]
        else:
            value.reverse()
    elif draw.random() < 0.5 and isinstance(holder, dict):
        del holder[key]
    else:
        holder[key] = draw.choice([None, 0, 1, "1", [], {}, True, 1 << 201])
    return {**changed, "problem_sha256": digest(changed["problem"])}
