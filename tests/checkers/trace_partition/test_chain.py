"""Proofs of partitions are certified if they are true, and only then."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.models.trace_partition.lowering.layer import HostLayer
from mapper.solver.method import Effort
from mapper.solver.proof import Claim, NotCertifiedError, digest
from mapper.solver.trace_partition.catalogue import METHODS
from mapper.solver.trace_partition.proof import prove
from tests.checkers.trace_partition.claim import (
    CHECKER,
    Document,
    example,
    least,
    posed_example,
    proof_of,
    verdict_on,
)
from tests.solver.sample import drawn
from tests.solver.trace_partition.random_partition import problems


@pytest.mark.parametrize("objective", ["latency", "traffic", "energy"])
def test_an_optimum_is_certified(objective: str) -> None:
    status, reason = verdict_on(example(objective))
    assert status == "certified"
    assert reason.startswith(f"optimal {example(objective)['claim']['value']} ")
    assert Fraction(example(objective)["claim"]["value"]) == least(example(objective)["problem"])


@pytest.mark.parametrize("objective", ["latency", "traffic", "energy"])
def test_what_the_host_takes_is_restated(objective: str) -> None:
    bare = posed_example(objective)
    last = bare.network.layers[-1].output
    calls = [HostLayer(f"lrn{size}", "", "LRN", (last,), last, size, "", 10 * size) for size in (3000, 7)]
    hosted = replace(bare, network=replace(bare.network, layers=(*bare.network.layers, *calls)))
    document, without = proof_of(hosted), proof_of(bare)
    parts = hosted.machine.energy_pj.parts if objective == "energy" else 1
    apart = Fraction(document["claim"]["value"]) - Fraction(without["claim"]["value"])
    assert apart == Fraction(hosted.host_part, parts) and (apart > 0) == (objective != "traffic")
    assert verdict_on(document)[0] == "certified", verdict_on(document)
    claim = {**document["claim"], **{name: without["claim"][name] for name in ("value", "bound")}}
    if objective != "traffic":
        assert verdict_on({**document, "claim": claim})[0] == "refuted"


@pytest.mark.parametrize("field", [{"clip": (0, 1536)}, {"table": "function"}])
def test_what_clipping_and_tables_cost_is_not_restated(field: dict[str, Any]) -> None:
    posed = posed_example()
    first, second = posed.network.traced
    layers = (first, replace(second, **field))
    problem = replace(posed, network=replace(posed.network, layers=layers))
    with pytest.raises(
        NotCertifiedError, match="does not restate what clipping, look-up tables and gates cost"
    ):
        proof_of(problem)


def test_the_checker_runs_alone(tmp_path: Path) -> None:
    path = tmp_path / "proofs.json"
    path.write_text(json.dumps({"schema": "mapper.proofs/1", "proofs": [example()]}))
    done = subprocess.run([sys.executable, "-I", CHECKER, path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "costs recomputed" in done.stdout and "lemmas Potentials" in done.stdout


@pytest.mark.parametrize("count", [15, pytest.param(1000, marks=pytest.mark.slow)])
def test_random_networks_are_certified(count: int) -> None:
    seen: Counter[str] = Counter()

    @drawn(count)
    @given(problems(2))
    def holds(problem: PartitionProblem) -> None:
        document = proof_of(problem)
        assert verdict_on(document)[0] == "certified", verdict_on(document)
        known, claim = least(document["problem"]), document["claim"]
        assert (known is None) == (claim["status"] == "infeasible")
        if known is not None:
            assert Fraction(claim["value"]) == known
            better = {**claim, "value": str(known - 1), "bound": str(known - 1)}
            assert verdict_on({**document, "claim": better})[0] != "certified"
            assert verdict_on({**document, "claim": {**claim, "status": "infeasible"}})[0] != "certified"
        seen[claim["status"]] += 1

    holds()
    assert seen["optimal"] > count // 3


def test_the_bound_of_a_heuristic_answer_is_certified() -> None:
    problem = posed_example("latency")
    found = METHODS["greedy"].search(problem, Effort())
    assert found.mapping is not None and found.value is not None
    claim = Claim("bounded", found.mapping, found.value, found.bound)
    document = prove(problem, claim, Effort()).to_json("trace_partition", "network")
    status, reason = verdict_on(document)
    assert status == "certified" and reason.startswith("bounded ")
    assert Fraction(document["claim"]["bound"]) <= (least(document["problem"]) or 0)


def test_a_potential_that_no_option_pays_for_is_refuted() -> None:
    document = copy.deepcopy(example("latency"))
    for own in document["evidence"]["potentials"][-1:]:
        for one in own:
            one[-1] += 1
    document["claim"]["bound"] += 1
    document["claim"]["status"] = "bounded"
    status, reason = verdict_on(document)
    assert status == "refuted" and "claimed" in reason
    document["claim"]["value"] += 1
    assert verdict_on(document)[0] == "refuted"


def test_an_option_that_is_cheaper_than_the_claim_is_named() -> None:
    """The partition taken is not the best, and potentials say that it is."""
    problem = posed_example("latency")
    found = METHODS["greedy"].search(problem, Effort())
    best = Fraction(example("latency")["claim"]["value"])
    assert found.mapping is not None and found.value is not None and found.value > best
    claim = Claim("bounded", found.mapping, found.value, found.bound)
    document = prove(problem, claim, Effort()).to_json("trace_partition", "network")
    for own in document["evidence"]["potentials"]:
        for one in own:
            one[-1] += int(found.value - best)
    document["claim"] = {"status": "optimal", "value": found.value, "bound": found.value}
    status, reason = verdict_on(document)
    assert status == "refuted" and "an option costs less" in reason


def test_the_proof_of_another_problem_is_refused() -> None:
    other = {**example("traffic"), "problem": example("latency")["problem"]}
    assert verdict_on(other)[0] == "refuted"
    assert verdict_on({**other, "problem_sha256": digest(other["problem"])})[0] == "refuted"


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_what_is_changed_is_certified_only_where_it_is_true(count: int) -> None:
    draw, refused = random.Random(3), 0
    for _ in range(count):
        document = mutated(example(draw.choice(["latency", "traffic", "energy"])), draw)
        status, _ = verdict_on(document)
        if status != "certified":
            refused += 1
            continue
        known, claim = least(document["problem"]), document["claim"]
        assert known is not None
        assert Fraction(claim["bound"]) <= known <= Fraction(claim["value"])
        if claim["status"] == "optimal":
            assert Fraction(claim["value"]) == known
    assert refused > count // 2


def mutated(document: Document, draw: random.Random) -> Document:
    changed = copy.deepcopy(document)
    part = changed[draw.choice(["problem", "claim", "evidence", "evidence"])]
    holders: list[tuple[Any, Any]] = [(part, key) for key in part]
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
