"""What cannot hold at once of one problem: found wherever it is claimed, and never where nothing false is claimed."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.solver.contradiction import ContradictionError, beats, contradiction, refuse_contradiction
from mapper.solver.method import Start
from mapper.solver.outcome import Outcome

Values = list[int | float]
FOUND: Outcome[str] = Outcome.bounded("mapping", 10, 4, "time_limit", method="one")
NOTHING: Outcome[str] = Outcome.unknown("time_limit", method="other")


@st.composite
def problems(draw: st.DrawFn) -> tuple[Values, bool]:
    """The values of all mappings of a problem, of which there may be none, and whether more is better."""
    whole = st.integers(-50, 50) | st.sampled_from([0, 1 << 62, 1 << 70, -(1 << 70)])
    numbers = whole if draw(st.booleans()) else st.floats(-1e6, 1e6)
    return draw(st.lists(numbers, max_size=6)), draw(st.booleans())


@st.composite
def truthful(draw: st.DrawFn, values: Values, most: bool) -> Outcome[Any]:
    """What an honest search may say of a problem: any mapping, any bound that holds, proofs of what is so."""
    if not values:
        return replace(NOTHING, stop="complete", proven=draw(st.booleans()))
    best = max(values) if most else min(values)
    away = draw(st.none() | st.integers(0, 9))
    bound = None if away is None else best + away if most else best - away
    value = draw(st.none() | st.sampled_from(values))
    if value is None:
        return replace(NOTHING, bound=bound)
    proven = value == best and draw(st.booleans())
    restricted = () if proven or draw(st.booleans()) else ("a part of the space",)
    return Outcome("mapping", value, best if proven else bound, "complete", proven, restricted)


@given(st.data())
@settings(derandomize=True, deadline=None)
def test_what_is_true_of_a_problem_never_contradicts_itself(data: st.DataObject) -> None:
    values, most = data.draw(problems())
    one, other = data.draw(truthful(values, most)), data.draw(truthful(values, most))
    assert contradiction(one, other, most) is None


@given(st.data())
@settings(derandomize=True, deadline=None)
def test_a_false_claim_contradicts_the_best_mapping_whoever_comes_first(data: st.DataObject) -> None:
    values, most = data.draw(problems().filter(lambda problem: bool(problem[0])))
    best = max(values) if most else min(values)
    honest: Outcome[Any] = Outcome.bounded("best", best, None, "heuristic")
    too_far = best - 1 if most else best + 1
    if too_far == best:
        return
    for false in (
        replace(NOTHING, proven=True),
        replace(NOTHING, bound=too_far),
        Outcome.optimal("worse", too_far),
        Outcome("worse", too_far, None, "complete", True),
        Outcome.bounded("restricted", too_far, too_far, "complete", restrictions=("a part",)),
    ):
        assert contradiction(honest, false, most) is not None
        assert contradiction(false, honest, most) is not None


def test_a_mapping_that_passes_its_own_bound_contradicts_itself() -> None:
    assert contradiction(FOUND, FOUND) is None
    own = replace(FOUND, value=3)
    assert contradiction(own, own) == ("one proves that no mapping is worth less than 4, one has one worth 3")


def test_a_heuristic_and_a_restricted_search_claim_no_more_than_their_bound() -> None:
    better = replace(FOUND, value=5, bound=None)
    for claim in (replace(FOUND, stop="heuristic"), replace(FOUND, restrictions=("half of it",)), NOTHING):
        assert contradiction(claim, better) is None


def test_integers_compare_exactly_and_floats_up_to_their_slack() -> None:
    huge = 10**30
    assert beats(huge - 1, huge, slack=1e30)
    assert not beats(0.3, 0.1 + 0.2, slack=1e-15) and beats(0.3, 0.1 + 0.2)
    assert beats(0.2, 0.3, slack=1e-15) and beats(0.3, 0.2, most=True)
    assert not beats(0.3, 0.3) and not beats(0.3, 0.2)


def test_a_start_refuses_what_contradicts_it() -> None:
    start: Start[str] = Start("problem", "old", 10, 4, "before")
    for found in (
        replace(NOTHING, stop="complete", proven=True),
        replace(NOTHING, bound=12),
        Outcome.optimal("new", 12),
        Outcome.bounded("new", 3, 2, "time_limit"),
    ):
        with pytest.raises(ContradictionError) as raised:
            start.combined(found)
        assert raised.value.first == start.outcome() and raised.value.second == found


def test_a_bound_that_is_passed_by_rounding_alone_goes() -> None:
    start: Start[str] = Start("problem", "old", 0.5, 0.1 + 0.2, "before", slack=1e-12)
    found = start.combined(Outcome.bounded("new", 0.3, 0.25, "time_limit"))
    assert (found.mapping, found.bound, found.proven) == ("new", 0.25, False)


def test_a_contradiction_says_what_it_is_and_travels_to_other_processes() -> None:
    with pytest.raises(ContradictionError, match="no mapping, one has one worth 10") as raised:
        refuse_contradiction(FOUND, replace(NOTHING, proven=True))
    again = pickle.loads(pickle.dumps(raised.value))
    assert (again.first, again.second, str(again)) == (
        FOUND,
        replace(NOTHING, proven=True),
        str(raised.value),
    )
