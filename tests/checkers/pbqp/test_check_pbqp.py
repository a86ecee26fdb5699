"""Proofs of PBQP instances are certified; what is wrong is refuted, and what is no proof is malformed."""

from __future__ import annotations

import copy
import importlib.util
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.solver.method import Effort
from mapper.solver.pbqp import proof as producer
from mapper.solver.pbqp.catalogue import METHODS
from mapper.solver.proof import Claim, NotCertifiedError, digest
from mapper.workloads.pbqp.instance import PbqpInstance, instance
from tests.solver.pbqp.oracle import brute_force
from tests.solver.pbqp.random_pbqp import problems
from tests.solver.sample import drawn

CHECKER = Path(__file__).parents[3] / "checkers" / "check_pbqp.py"
SEEDS = range(50)


def _checker() -> Any:
    spec = importlib.util.spec_from_file_location("check_pbqp", CHECKER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


VERDICT: Callable[[Any], tuple[str, str, str]] = _checker().verdict


def _status(document: Any) -> str:
    return VERDICT(document)[1]


def _claim(problem: PbqpProblem) -> Claim[PbqpAssignment]:
    found = METHODS["auto"].search(problem, Effort())
    if found.mapping is None:
        return Claim("infeasible", None, None, None)
    return Claim("optimal" if found.proven else "bounded", found.mapping, found.value, found.bound)


def _proof(problem: PbqpProblem) -> dict[str, Any]:
    made = producer.prove(problem, _claim(problem), Effort()).to_json("pbqp", "instance")
    read: dict[str, Any] = json.loads(json.dumps(made))
    return read


def _dense(seed: int, vertices: int = 6, choices: int = 3) -> PbqpInstance:
    draw = random.Random(seed)
    cost: list[int | float] = [-5, 0, 3, 7, 20, float("inf")]

    def row() -> list[int | float]:
        return [draw.choice(cost[:5] if draw.random() < 0.9 else cost) for _ in range(choices)]

    edges = [(u, v, [row() for _ in range(choices)]) for v in range(vertices) for u in range(v)]
    return instance([row() for _ in range(vertices)], edges)


@pytest.fixture
def trees_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(producer, "LARGEST_TABLE", 1)


def test_an_elimination_is_certified_by_the_program_itself(tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    file.write_text(json.dumps({"schema": "mapper.proofs/1", "proofs": [_proof(PbqpProblem(_dense(1)))]}))
    done = subprocess.run(
        [sys.executable, "-I", str(CHECKER), str(file)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "certified: optimal" in done.stdout and "trusted:" in done.stdout


@pytest.mark.parametrize("seed", range(8))
def test_a_tree_of_bounds_is_certified(seed: int, trees_only: None) -> None:
    made = _proof(PbqpProblem(_dense(seed)))
    assert made["evidence"]["rule"] == "tree" and len(made["evidence"]["tree"]) in (1, 3)
    assert VERDICT(made)[1:2] == ("certified",)


def test_a_tree_that_branches_leaves_no_choice_out(trees_only: None) -> None:
    made = next(
        one
        for one in (_proof(PbqpProblem(_dense(seed))) for seed in range(40))
        if len(one["evidence"]["tree"]) == 3
    )
    assert _status(made) == "certified"
    made["evidence"]["tree"][2].pop()
    assert _status(made) == "refuted"


def test_an_infeasible_core_is_certified_by_a_tree(trees_only: None) -> None:
    inf = float("inf")
    apart = [[inf, 0], [0, inf]]
    same = [[0, inf], [inf, 0]]
    edges = [(u, v, apart if (u, v) == (0, 1) else same) for v in range(5) for u in range(v)]
    made = _proof(PbqpProblem(instance([[0, 0]] * 5, edges)))
    assert made["claim"]["status"] == "infeasible" and made["evidence"]["rule"] == "tree"
    assert _status(made) == "certified"


def test_a_claim_with_a_bound_below_its_value_is_certified_as_bounded() -> None:
    problem = PbqpProblem(_dense(3))
    best = _claim(problem)
    assert best.mapping is not None and best.value is not None
    made = producer.prove(problem, Claim("bounded", best.mapping, best.value, best.value - 2), Effort())
    assert _status(json.loads(json.dumps(made.to_json("pbqp", "")))) == "certified"


@pytest.mark.parametrize("off", [-1, 1])
def test_a_value_that_is_off_by_one_is_refuted(off: int) -> None:
    made = _proof(PbqpProblem(_dense(5)))
    made["claim"]["value"] += off
    made["claim"]["bound"] += off
    assert _status(made) == "refuted"


def test_a_choice_that_is_not_the_best_is_refuted() -> None:
    problem = PbqpProblem(_dense(6))
    made = _proof(problem)
    for vertex in range(6):
        worse = copy.deepcopy(made)
        worse["evidence"]["choices"][vertex] = (worse["evidence"]["choices"][vertex] + 1) % 3
        value = problem.pinned.value(worse["evidence"]["choices"])
        worse["claim"]["value"] = worse["claim"]["bound"] = value
        assert value == made["claim"]["value"] or _status(worse) in ("refuted", "malformed")


def test_a_feasible_instance_is_not_infeasible() -> None:
    made = _proof(PbqpProblem(_dense(7)))
    made["claim"] = {"status": "infeasible", "value": None, "bound": None}
    made["evidence"]["choices"] = None
    assert _status(made) == "refuted"


def test_no_finite_cost_passes_for_infinity() -> None:
    made = _proof(PbqpProblem(instance([[float("inf")]])))
    assert _status(made) == "certified"
    for power in (70, 109, 110, 111, 8999, 9000):
        made["problem"]["vertices"] = [[1 << power]]
        made["problem_sha256"] = digest(made["problem"])
        assert _status(made) == "malformed"


def test_tied_costs_in_floating_point_are_added_up_as_fractions() -> None:
    costs = instance([[0.1, 0.3], [0.2, 0.0]], [(0, 1, [[0.0, 1.0], [5.0, 0.0]])])
    made = _proof(PbqpProblem(costs))
    assert Fraction(made["claim"]["value"]) == min(Fraction(0.1) + Fraction(0.2), Fraction(0.3))
    assert _status(made) == "certified"


@pytest.mark.parametrize("count", [10, pytest.param(1000, marks=pytest.mark.slow)])
def test_trying_everything_the_solver_and_the_checker_agree(count: int) -> None:
    seen: Counter[str] = Counter()

    @drawn(count)
    @given(problems())
    def holds(drawn_problem: tuple[PbqpProblem, str]) -> None:
        problem, _ = drawn_problem
        least = brute_force(problem.pinned)
        claim = _claim(problem)
        try:
            made = producer.prove(problem, claim, Effort()).to_json("pbqp", "")
        except NotCertifiedError:
            seen["none"] += 1
            return
        assert VERDICT(json.loads(json.dumps(made)))[1:2] == ("certified",)
        seen[claim.status] += 1
        if claim.status == "optimal":
            assert least == (claim.value if problem.pinned.exact else float(Fraction(made["claim"]["value"])))
        assert (least is None) == (claim.status == "infeasible")

    holds()
    assert seen["optimal"] >= 0.5 * count and seen["none"] <= 0.1 * count


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in pairs:
            yield (*path, key)
            yield from _places(one, (*path, key))


def _mutated(made: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    changed = copy.deepcopy(made)
    path = draw.choice(list(_places(changed)))
    at: Any = changed
    for key in path[:-1]:
        at = at[key]
    old = at[path[-1]]
    if type(old) is int:
        at[path[-1]] = draw.choice([old + 1, old - 1, 2 * old, -old])
    elif isinstance(old, list) and old and draw.random() < 0.7:
        one, other = draw.randrange(len(old)), draw.randrange(len(old))
        draw.choice(
            [lambda: old.pop(one), lambda: old.insert(one, old[other]), old.reverse, old[one:].clear]
        )()
        old[one : one + 1] = old[other : other + 1] if one < len(old) else []
    else:
        at.pop(path[-1])
    if draw.random() < 0.9 and isinstance(changed.get("problem"), dict):
        changed["problem_sha256"] = digest(changed["problem"])
    return changed


def _true(changed: dict[str, Any]) -> bool:
    """Whether the claim of a document holds, by trying everything."""
    problem, claim = changed["problem"], changed["claim"]

    def cost(one: Any) -> Any:
        return float("inf") if one == "inf" else one

    sizes = [len(costs) for costs in problem["vertices"]]
    edges = [
        (u, v, [[cost(one) for one in flat[i * sizes[v] : (i + 1) * sizes[v]]] for i in range(sizes[u])])
        for u, v, flat in problem["edges"]
    ]
    posed = instance([[cost(one) for one in costs] for costs in problem["vertices"]], edges)
    least = brute_force(posed)
    if claim["status"] == "infeasible":
        return least is None and claim["value"] is claim["bound"] is None
    attained = posed.value(changed["evidence"]["choices"])
    shown = least is not None and claim["bound"] <= least
    return attained == claim["value"] and shown and (claim["status"] == "bounded" or least == claim["value"])


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_changed_proof_is_accepted_only_where_its_claim_holds(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, seen = random.Random(4), Counter[str]()
    whole = [_proof(PbqpProblem(_dense(seed, 5, 2))) for seed in range(4)]
    monkeypatch.setattr(producer, "LARGEST_TABLE", 1)
    trees = [_proof(PbqpProblem(_dense(seed, 5, 2))) for seed in range(4)]
    for _ in range(count):
        changed = _mutated(draw.choice(whole + trees), draw)
        status = _status(changed)
        seen[status] += 1
        assert status != "certified" or _true(changed), changed
    assert seen["refuted"] > 0.1 * count and seen["malformed"] > 0.1 * count


def test_the_evidence_of_another_instance_is_refuted() -> None:
    one, other = _proof(PbqpProblem(_dense(1))), _proof(PbqpProblem(_dense(2)))
    for part in ("problem", "evidence", "claim"):
        assert _status(one | {part: other[part]}) in ("refuted", "malformed")


def _hostile() -> dict[str, str]:
    made = _proof(PbqpProblem(_dense(1)))
    text = json.dumps({"schema": "mapper.proofs/1", "proofs": [made]})
    huge = copy.deepcopy(made)
    huge["problem"]["vertices"][0][0] = "1/" + "7" * 900
    huge["problem_sha256"] = digest(huge["problem"])
    wide = copy.deepcopy(made)
    many = 40
    wide["problem"] = {
        "objective": "least sum of costs",
        "vertices": [[0, 1]] * many,
        "edges": [[u, v, [0, 1, 1, 0]] for v in range(many) for u in range(v)],
    }
    wide["problem_sha256"] = digest(wide["problem"])
    wide["claim"] = {"status": "optimal", "value": 0, "bound": 0}
    wide["evidence"] |= {"choices": [0] * many, "order": list(range(many)), "tree": [[]]}
    return {
        "nested": '{"a":' * 100_000,
        "lists": "[" * 100_000 + "]" * 100_000,
        "digits": text.replace('"bound": ', '"bound": ' + "9" * 5000),
        "float": text.replace('"status": "optimal"', '"status": 1.5e309'),
        "nan": text.replace('"rule": "elimination"', '"rule": NaN'),
        "twice": text.replace('"kind": "pbqp"', '"kind": "pbqp", "kind": "pbqp"'),
        "list": json.dumps({"schema": "mapper.proofs/1", "proofs": [[made]]}),
        "wide": json.dumps({"schema": "mapper.proofs/1", "proofs": [wide]}),
        "fraction": json.dumps({"schema": "mapper.proofs/1", "proofs": [huge]}),
        "empty": "",
        "cut": text[: len(text) // 2],
    }


@pytest.mark.parametrize("name", list(_hostile()))
def test_a_hostile_file_ends_soon(name: str, tmp_path: Path) -> None:
    file = tmp_path / "hostile.json"
    file.write_text(_hostile()[name])
    done = subprocess.run(
        [sys.executable, "-I", str(CHECKER), str(file)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == {"fraction": 0, "wide": 3}.get(name, 2), done.stdout + done.stderr


def test_numbers_that_are_hard_to_tell_apart_end_soon() -> None:
    """Python gives them one hash, so that a set of them takes a minute to fill, in which no signal is heard."""
    made = _proof(PbqpProblem(_dense(1)))
    made["problem"]["vertices"][0] = ["inf", *(at * ((1 << 61) - 1) for at in range(100_000))]
    made["problem_sha256"] = digest(made["problem"])
    began = time.process_time()
    assert _status(made) == "malformed"
    assert time.process_time() - began < 5
