"""The referee of layers notices every box that is missing, runs in an illegal order, or adds too early."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product

import pytest

from mapper.arch.cgra import CgraMachine, ConfigurationMemory
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.modulo_schedule.network.referee import verify as referee
from mapper.formulations.modulo_schedule.network.referee.verify import (
    COVERED,
    FITS,
    LEGAL,
    ORDERED,
    UNROLLED,
    verify_layer,
)
from mapper.formulations.verdict import Verdict
from mapper.models.modulo_schedule.cost import ScheduleCost
from mapper.models.modulo_schedule.mapping import ModuloSchedule, Placement
from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.mapping import LayerMapping, LoopMapping
from mapper.models.modulo_schedule.network.nest import Box, Nest
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.network.heuristic.tuning import exhaustive
from mapper.workloads.network.network_layer import NetworkLayer
from tests.codegen.modulo_schedule.small_layer import convolution_layer, pool_layer, window_of
from tests.formulations.modulo_schedule.test_layer_order import additions

CONVOLUTION = convolution_layer((1, 3, 4, 5), 2, window_of(3))
POOL = pool_layer("MaxPool", (1, 2, 6, 5), window_of(5))
NOTHING = ModuloSchedule(1, (Placement((0, 0), 0),), ())
CHOICES = [(CONVOLUTION, 0), (CONVOLUTION, 1), (POOL, 0)]


def machine() -> CgraMachine:
    found = load_machine("srp-4x4")[0]
    assert isinstance(found, CgraMachine)
    return found


@pytest.fixture
def layers_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves out what the referee of kernels says of each loop's schedule, and the cost."""

    def accepted(problem: object, schedule: object) -> Verdict[ScheduleCost]:
        return Verdict((), None)

    monkeypatch.setattr(referee, "verify", accepted)
    for name in ("kernel_of", "evaluate_layer"):
        monkeypatch.setattr(referee, name, lambda *_: None)


@cache
def tuned() -> tuple[LayerProblem, LayerMapping]:
    problem = LayerProblem(pool_layer("MaxPool", (1, 1, 3, 3), window_of(2)), machine())
    mapping = exhaustive(problem, Effort(), 1).mapping
    assert mapping is not None
    return problem, mapping


def whole(nest: Nest) -> Box:
    extents = tuple(extent for _, extent in nest.loops)
    return Box((0,) * len(extents), extents, (1,) * len(extents), next(nest.innermost()))


def mapping_of(algorithm: Algorithm, boxes: list[Box]) -> LayerMapping:
    """The main nest in these boxes, the others as they are written."""
    loops = []
    for position, nest in enumerate(algorithm.nests):
        own = boxes if position == algorithm.main else [whole(nest)]
        loops += [LoopMapping(position, box, None, NOTHING) for box in own]
    return LayerMapping(algorithm.name, tuple(loops))


def rules(problem: LayerProblem, algorithm: Algorithm, boxes: list[Box]) -> set[str]:
    return {rule.rule for rule in verify_layer(problem, mapping_of(algorithm, boxes)).broken}


def drawn_boxes(nest: Nest, draw: random.Random) -> Iterator[Box]:
    """The nest cut in up to four boxes, in any order and with any factors that divide."""
    innermost = draw.choice(list(nest.innermost()))
    parts = [((0,) * len(nest.loops), tuple(extent for _, extent in nest.loops))]
    for _ in range(draw.randrange(4)):
        start, count = parts.pop(draw.randrange(len(parts)))
        axis = draw.randrange(len(count))
        cut = draw.randint(0, count[axis] - 1)
        first = (*count[:axis], cut, *count[axis + 1 :])
        rest = (*count[:axis], count[axis] - cut, *count[axis + 1 :])
        moved = (*start[:axis], start[axis] + cut, *start[axis + 1 :])
        parts += [(start, first), (moved, rest)] if cut else [(start, count)]
    parts.sort()
    if draw.random() < 0.5:
        draw.shuffle(parts)
    inner = nest.accumulated[1:]
    unrolled = draw.random() < 0.5
    for start, count in parts:
        factors = tuple(
            total
            if unrolled and name in inner
            else draw.choice([one for one in range(1, total + 1) if total % one == 0])
            for name, total in zip(nest.names, count, strict=True)
        )
        yield Box(start, count, factors, innermost)


@pytest.mark.parametrize(("layer", "place"), CHOICES)
@pytest.mark.usefixtures("layers_only")
def test_boxes_whose_sums_change_their_order_are_noticed(layer: NetworkLayer, place: int) -> None:
    problem = LayerProblem(layer, machine())
    algorithm = problem.choices[place]
    nest = algorithm.nests[algorithm.main]
    order = list(product(*(range(nest.extents[name]) for name in nest.accumulated)))
    draw = random.Random(place)
    wrong = 0
    for _ in range(250):
        boxes = list(drawn_boxes(nest, draw))
        if any(places != order for places in additions(nest, tuple(boxes)).values()):
            wrong += 1
            assert ORDERED in rules(problem, algorithm, boxes), boxes
    assert wrong > 10


@pytest.mark.parametrize(("layer", "place"), CHOICES)
@pytest.mark.usefixtures("layers_only")
def test_a_nest_as_it_is_written_breaks_no_rule(layer: NetworkLayer, place: int) -> None:
    problem = LayerProblem(layer, machine())
    algorithm = problem.choices[place]
    assert rules(problem, algorithm, [whole(algorithm.nests[algorithm.main])]) == set()


def test_what_no_box_covers_has_no_cost() -> None:
    problem = LayerProblem(CONVOLUTION, machine())
    algorithm = problem.choices[1]
    box = whole(algorithm.nests[1])
    assert verify_layer(problem, mapping_of(algorithm, [box])).cost is not None
    verdict = verify_layer(problem, mapping_of(algorithm, [replace(box, count=(1, *box.count[1:]))]))
    assert COVERED in [rule.rule for rule in verdict.broken]
    assert verdict.cost is None


@pytest.mark.usefixtures("layers_only")
def test_a_loop_that_may_not_run_innermost_is_noticed() -> None:
    problem = LayerProblem(POOL, machine())
    (algorithm,) = problem.choices
    box = whole(algorithm.nests[algorithm.main])
    assert rules(problem, algorithm, [replace(box, innermost="r")]) == {LEGAL}
    assert rules(problem, algorithm, [replace(box, innermost="z")]) == {LEGAL}


@pytest.mark.usefixtures("layers_only")
def test_factors_above_8_are_noticed() -> None:
    problem = LayerProblem(convolution_layer((1, 3, 5, 8), 2, window_of(3)), machine())
    algorithm = problem.choices[1]
    box = whole(algorithm.nests[1])
    assert rules(problem, algorithm, [replace(box, unroll=(1, 9, 1))]) == {UNROLLED}
    assert rules(problem, algorithm, [replace(box, unroll=(1, 6, 1))]) == set()


def test_a_tuned_layer_breaks_no_rule_and_a_loop_of_it_that_is_moved_does() -> None:
    problem, mapping = tuned()
    assert verify_layer(problem, mapping).broken == ()
    loop = mapping.loops[0]
    first = replace(loop.schedule.placements[0], time=loop.schedule.placements[0].time + 40)
    late = replace(loop.schedule, placements=(first, *loop.schedule.placements[1:]))
    broken = verify_layer(problem, replace(mapping, loops=(replace(loop, schedule=late), *mapping.loops[1:])))
    assert broken.broken and all("box 0" in rule.place for rule in broken.broken)


def test_a_kernel_that_does_not_fit_into_the_configuration_memory_is_noticed() -> None:
    problem, mapping = tuned()
    largest = max(loop.schedule.ii for loop in mapping.loops)
    for contexts, broken in ((largest, set()), (largest - 1, {FITS})):
        memory = ConfigurationMemory(contexts=contexts, context_cycles=1)
        small = replace(problem, machine=problem.machine.model_copy(update={"configuration_memory": memory}))
        assert {rule.rule for rule in verify_layer(small, mapping).broken} == broken
