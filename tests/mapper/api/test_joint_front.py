"""Trade-offs of several parts together are the sums of those of its parts that no other sum beats."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import mapper
from mapper.api import joint_front
from mapper.api.joint_front import PartFront, joint_points, unbeaten
from mapper.api.problem import PosedProblem, posed
from mapper.api.trade_off import front_of
from mapper.kind.part import Options, Workload
from mapper.kind.tiling.kind import TILING
from mapper.workloads.document import InputError
from mapper.workloads.network.network import Layer, Network
from tests.solver.tiling.small import matrix_product, small_machine

SHAPES = {"gemm1": (4, 2, 4), "gemm2": (2, 3, 4), "gemm3": (4, 4, 2)}


def small_network() -> tuple[PosedProblem, list[PartFront]]:
    """Three matrix products as a network, and the front of each."""
    layers = tuple(Layer(name, name, "Gemm", matrix_product(*shape)) for name, shape in SHAPES.items())
    read = Workload(Network("small", layers), ())
    problem = posed(TILING, "small", "small machine", None, Options(), read, small_machine())
    search = mapper.Search(workers=1)
    return problem, [front_of(problem, part, search) for part in problem.parts]


def points(parts: Any) -> list[tuple[int, int]]:
    return [(part.cost["energy_pj"], part.cost["cycles"]) for part in parts]


def test_rows_that_another_beats_go_and_of_equal_ones_the_first_stays() -> None:
    rows = [((a * b % 7, a + b), (a, b)) for a, b in itertools.product(range(5), repeat=2)]
    best = [
        row
        for row, _ in rows
        if not any(one != row and one[0] <= row[0] and one[1] <= row[1] for one, _ in rows)
    ]
    assert [row for row, _ in unbeaten(rows)] == sorted(set(best))
    assert unbeaten([((1, 1), (1,)), ((1, 1), (0,))]) == [((1, 1), (0,))]


def test_a_network_has_the_sums_of_its_layers_trade_offs() -> None:
    problem, fronts = small_network()
    sums = {
        tuple(map(sum, zip(*one, strict=True)))
        for one in itertools.product(*(points(f.parts) for f in fronts))
    }
    expected = sorted(
        one for one in sums if not any(o != one and o[0] <= one[0] and o[1] <= one[1] for o in sums)
    )
    found = joint_points(problem, fronts)
    assert 2 < len(expected) < len(sums)
    assert points(found) == expected
    assert all(point.certificate.proven and point.certificate.verified for point in found)
    assert found[0].mapping is not None and tuple(found[0].mapping.to_json()) == tuple(SHAPES)


def test_nothing_is_proven_where_one_front_is_cut_short() -> None:
    problem, (first, *others) = small_network()
    cut = PartFront(first.parts[:1], first.rows[:1], False)
    assert not any(point.certificate.proven for point in joint_points(problem, [cut, *others]))


def test_more_trade_offs_than_can_be_listed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_front, "MOST_POINTS", 2)
    problem, fronts = small_network()
    with pytest.raises(InputError, match="more than 2 trade-offs; give one part"):
        joint_points(problem, fronts)


@pytest.mark.slow
def test_the_paper_s_network_has_all_its_trade_offs() -> None:
    found = mapper.front("resnet-dmazerunner", search=mapper.Search(workers=1))
    assert found.complete and len(found.points) == 110
