"""The engine in machine code does what the cycle-by-cycle simulator does: the same words of memory in as many
cycles."""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.codegen.modulo_schedule.nest_program import nest_words
from mapper.codegen.modulo_schedule.network.layer_steps import configured
from mapper.models.modulo_schedule.configuration.live_in import live_in_names
from mapper.models.modulo_schedule.configuration.word import Configuration, Immediate, Output, Word
from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.baseline import baselines
from mapper.models.modulo_schedule.network.mapping import LoopMapping, kernel_of
from mapper.models.modulo_schedule.network.nest import Box, Nest
from mapper.models.modulo_schedule.network.way.layer import algorithms
from mapper.sim.modulo_schedule.network.encoding import OPCODES, encoded, in_order
from mapper.sim.modulo_schedule.network.engine import OUTSIDE, starts
from mapper.sim.modulo_schedule.simulation import simulate
from mapper.sim.modulo_schedule.tally import counted
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.network.heuristic.loop_schedule import loop_schedule
from mapper.workloads.document import InputError
from mapper.workloads.graph.opcode import FLOAT_OPERATIONS, evaluate
from mapper.workloads.network.network_layer import NetworkLayer
from tests.codegen.modulo_schedule.small_layer import (
    activation,
    convolution_layer,
    pool_layer,
    product_layer,
    window_of,
)

CONVOLUTION = convolution_layer((1, 2, 5, 6), 3, window_of(3, pad=1), activation("LeakyRelu", alpha=0.1))
LAYERS = {
    "convolution": CONVOLUTION,
    "product": product_layer(2, 9, 5, activation("Relu")),
    "small pool": pool_layer("AveragePool", (1, 2, 6, 6), window_of(2, 2)),
    "large pool": pool_layer("MaxPool", (1, 2, 6, 5), window_of(5)),
}
FLOATS = (0.0, -0.0, 1.5, -2.25, math.inf, -math.inf, math.nan, 3.0e38, 1e-40)
INTEGERS = (0, 1, -1, 7, -(1 << 31), (1 << 31) - 1)


def machine(name: str = "srp-2x2") -> CgraMachine:
    found = load_machine(name)[0]
    assert isinstance(found, CgraMachine)
    return found


def algorithms_of(layer: NetworkLayer) -> list[Algorithm]:
    # The tiles of one side have the nests of the other's.
    known = [one for one in algorithms(layer, machine()) if one.name != "winograd"]
    return [*known, baselines(layer, machine())[0]]


def small_box(nest: Nest) -> Box:
    """A body of two copies along the innermost loop, where that has two iterations or more."""
    innermost = next(nest.innermost())
    factors = tuple(
        2 if name == innermost and extent > 1 and nest.window is None else 1 for name, extent in nest.loops
    )
    count = tuple(extent // factor * factor for (_, extent), factor in zip(nest.loops, factors, strict=True))
    return Box((0,) * len(count), count, factors, innermost)


def scheduled(nest: Nest, box: Box) -> LoopMapping:
    schedule = loop_schedule(kernel_of(nest, box, 4), machine(), Effort()).mapping
    assert schedule is not None
    return LoopMapping(0, box, 4, schedule)


def once(
    configuration: Configuration,
    trips: int,
    memory: npt.NDArray[np.float32],
    bases: list[int],
    given: list[int],
) -> tuple[int, npt.NDArray[np.int64]]:
    """One start with arrays and live-ins at these words; memory is changed. Its cycles, and what was counted."""
    tables = encoded(configuration, machine())
    values, results = tables.values.copy(), np.zeros(tables.results, np.int32)
    stores = np.zeros((tables.words.shape[1], 2), np.int64)
    done = np.zeros((4, tables.words.shape[1]), np.int64)
    state = (values, values.view(np.float32), results, results.view(np.float32), stores, done)
    words = (
        tables.words, tables.issues, tables.landings, tables.landed, tables.ii, tables.stages, tables.warm,
    )  # fmt: skip
    loops = np.array([[0, 1, 1]], np.int64)
    at = [np.array([[word, 0] for word in places], np.int64).reshape(-1, 2) for places in (bases, given)]
    return int(starts(words, trips, memory.view(np.int32), loops, *at, tables.patches, state)), done


@pytest.mark.parametrize("name", LAYERS)
def test_a_start_leaves_the_words_of_the_simulator_in_its_cycles_with_its_actions(name: str) -> None:
    for algorithm in algorithms_of(LAYERS[name]):
        for nest in algorithm.nests:
            box = small_box(nest)
            loop = scheduled(nest, box)
            configuration = configured(nest, loop, machine())
            trips = box.trip_count(nest)
            draw = np.random.default_rng(0)
            arrays = {
                array: draw.normal(size=words + 64).astype(np.float32)
                for array, words in nest_words(nest).items()
            }
            names = live_in_names(configuration)
            given = draw.normal(size=len(names)).astype(np.float32)
            known = dict(zip(names, map(float, given), strict=True))
            wanted = simulate(configuration, machine(), arrays, trips, live_ins=known)
            assert not wanted.violations
            tables = encoded(configuration, machine())
            ends = np.cumsum([0, *(words.size for words in arrays.values())])
            first = dict(zip(arrays, map(int, ends), strict=False))
            memory = np.concatenate([*arrays.values(), given])
            live = [int(ends[-1]) + names.index(one) for one in tables.live_ins]
            at = [first[one] for one in tables.arrays]
            cycles, done = once(configuration, trips, memory, at, live)
            assert cycles == wanted.cycles
            executed = zip(in_order(configuration), done.T.tolist(), strict=True)
            tallies = [(word, times, firsts[: len(word.read)]) for word, (times, *firsts) in executed]
            assert counted(tallies, cycles, len(machine().all_pes)) == wanted.activity
            expected = np.concatenate([wanted.memory[array] for array in arrays])
            assert memory[: expected.size].tobytes() == expected.tobytes(), (algorithm.name, nest.name)


def words_of(opcode: str, operands: tuple[float | int, ...]) -> Configuration:
    """A load of nothing but an index, whose word is replaced: the opcode's result is stored in word 0 of ``m``."""
    computed = Word(
        pe=(0, 1), slot=0, stage=0, operation="it", opcode=opcode, latency=1,
        operands=tuple(Immediate(position=at, value=value) for at, value in enumerate(operands)),
    )  # fmt: skip
    stored = Word(
        pe=(0, 0), slot=1, stage=0, operation="store", opcode="store", latency=1, array="m",
        operands=(Immediate(position=0, value=0), Output(position=1, pe=(0, 1))),
    )  # fmt: skip
    return Configuration(
        kernel="one", machine="srp-2x2", ii=2, stages=1, trip_count=1, words=(computed, stored)
    )


@pytest.mark.parametrize("opcode", [one for one in OPCODES if one not in ("load", "store", "move", "select")])
def test_an_operation_has_the_meaning_that_it_has_everywhere(opcode: str) -> None:
    floats = opcode in FLOAT_OPERATIONS
    numbers: tuple[float | int, ...] = FLOATS if floats else INTEGERS
    for operands in itertools.product(numbers, repeat=1 if opcode == "mov" else 2):
        if opcode == "fdiv" and operands[1] == 0:
            continue
        memory = np.zeros(1, np.float32)
        assert once(words_of(opcode, operands), 1, memory, [0], [])[0] == 2
        wanted = evaluate(opcode, operands)
        expected = np.array([wanted], np.float32 if floats else np.int64).astype(
            np.float32 if floats else np.int32
        )
        same_nan = floats and math.isnan(float(wanted)) and math.isnan(float(memory[0]))
        assert same_nan or memory.view(np.int32)[0] == expected.view(np.int32)[0], operands


@pytest.mark.parametrize(("chosen", "wanted"), [(0, 3), (5, 2), (-1, 2)])
def test_a_select_takes_its_third_operand_where_the_first_is_0(chosen: int, wanted: int) -> None:
    memory = np.zeros(1, np.float32)
    once(words_of("select", (chosen, 2, 3)), 1, memory, [0], [])
    assert memory.view(np.int32)[0] == wanted


def test_an_access_outside_of_memory_ends_the_run() -> None:
    memory = np.zeros(4, np.float32)
    for base in (-1, 4):
        assert once(words_of("add", (1, 2)), 1, memory, [base], [])[0] == OUTSIDE


def test_what_the_engine_does_not_execute_is_refused() -> None:
    with pytest.raises(InputError, match="'sqrt'"):
        encoded(words_of("sqrt", (1.0, 1.0)), machine())


def test_the_simulator_wants_every_live_in() -> None:
    nest = algorithms_of(CONVOLUTION)[0].nests[0]
    configuration = configured(nest, scheduled(nest, small_box(nest)), machine())
    assert live_in_names(configuration)
    with pytest.raises(InputError, match="live-in 'bias_"):
        simulate(configuration, machine(), {"c": np.zeros(500, np.float32)}, 2)
