"""Programs of PEs: what their words do, what they need of a PE, and where they are refused."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from mapper.arch.processing_element import Latency, ProcessingElement
from mapper.models.pe_allocation.configuration.configuration import configure
from mapper.models.pe_allocation.configuration.layer_data import LayerData
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.models.pe_allocation.word.operation import Assembled, Operation
from mapper.models.pe_allocation.word.program import LayerWords, words_of_all
from mapper.models.pe_allocation.word.register_file import RegisterFile, divided
from mapper.workloads.document import InputError
from tests.sim.pe_allocation.example import Net, allocated, array, network_called

MNIST = network_called("mnist-tcpa")
PAPER = allocated(MNIST, 4, 1, 8, 1, 2)


def constants(*bias: int) -> LayerData:
    none = np.zeros(0, np.int64)
    return LayerData(none, np.array(bias, np.int64), none, none)


def words(
    network: StreamNetwork = MNIST, allocation: Allocation = PAPER, model: Any = "streaming", **pe: Any
) -> tuple[LayerWords, ...]:
    configuration = configure(network, array(), allocation, model)
    none = [constants(*((0,) * layer.filters)) for layer in configuration.layers]
    return words_of_all(configuration, none, ProcessingElement.model_validate(pe))


def issued(made: Assembled, positions: int) -> list[tuple[Operation, ...]]:
    """The operations of every cycle while positions follow one another, and until the PE is at rest."""
    k1, k2, n, m = made.counts
    found, word = [], 0
    taps = k1 * k2
    position = [
        made.signals[8 * (tap == 0) + 4 * (tap == taps - 1) + 2 * (at == 0) + (at == n - 1)][number]
        for tap in range(taps)
        for at in range(n)
        for number in range(m)
    ]
    for signal in [*position * positions, *[0] * 40]:
        word = dict(made.code.words[word].branches)[signal]
        found.append(made.code.words[word].operations)
    assert word == 0
    return found


def test_a_unit_multiplies_in_every_cycle_of_a_position() -> None:
    made = words()[2].pes[0]
    assert made is not None
    cycles = issued(made, 2)
    # 24 filters on 8 PEs, 24 maps by two units, 3 x 3 taps.
    work = 3 * 12 * 9
    assert [sum(one.name == "mul" for one in cycle) for cycle in cycles[: 2 * work]] == [2] * (2 * work)
    counts = Counter(one.name for cycle in cycles for one in cycle)
    assert counts == {"mul": 4 * work, "add": 4 * work, "mov": 2 * 2 * 12 * 9, "asr": 6, "max": 6, "min": 6}


def test_a_result_follows_the_last_product_by_the_latencies_of_its_units() -> None:
    made = words(
        latency={"multiply": 4, "add": 3, "compare": 2, "shift": 5, "move": 1},
    )[2].pes[0]
    assert made is not None and made.final == 4 + 3 + 3 + 5 + 2 + 2
    last = max(at for at, cycle in enumerate(issued(made, 1)) for one in cycle if one.to.bank == "OD")
    assert last + 2 == 3 * 12 * 9 - 1 + made.final


def test_sums_begin_with_bias_and_half_of_what_is_cut_off() -> None:
    network = Net((3, 3), 2).convolution(3).network()
    configuration = configure(network, array(), allocated(network, 2), "streaming")
    made = words_of_all(configuration, [constants(10, 20, 30)], ProcessingElement())[0]
    half = 1 << (configuration.layers[0].shift - 1)
    contents = [one.code.fifos[0].content for one in made.pes if one is not None]
    assert contents == [(10 + half, 30 + half), (20 + half,)]


def test_a_pe_beyond_the_filters_has_no_program() -> None:
    made = words(allocation=allocated(MNIST, 4, 2, 8, 1, 2))[1]
    assert made.pes[0] is not None and made.pes[1] is None


def test_pes_of_a_layer_that_have_as_many_filters_run_the_same_words() -> None:
    codes = [one.code for one in words()[0].pes if one is not None]
    assert len(codes) == 4 and all(code.words is codes[0].words for code in codes)


def test_only_pooling_words_are_few() -> None:
    # At rest, and the first, a middle and the last tap of a window: all n of a tap are alike.
    assert [len(one.pes[0].code.words) for one in words() if one.pes[0]][1] == 4


@pytest.mark.parametrize(
    ("field", "limit"),
    [
        ("data_registers", 7),
        ("feedback_fifos", 1),
        ("feedback_words", 5),
        ("input_registers", 3),
        ("output_registers", 1),
        ("constant_registers", 2),
        ("instruction_words", 20),
    ],
)
def test_a_program_that_a_pe_has_no_room_for_is_refused(field: str, limit: int) -> None:
    with pytest.raises(InputError, match=rf"processing_element\.{field}: needs"):
        words(MNIST, PAPER, "streaming", **{field: limit})


@pytest.mark.parametrize("unit", ["multipliers", "adders", "comparators", "movers"])
def test_words_of_more_operations_than_a_pe_has_units_are_refused(unit: str) -> None:
    with pytest.raises(
        InputError, match=rf"processing_element\.units\.{unit}: needs 2 on a PE, and there are 1"
    ):
        words(units={unit: 1})


def test_words_that_wait_longer_than_an_input_holds_are_refused() -> None:
    network = Net((3, 3), 4).convolution(3).network()
    allocation = allocated(network, 1, delta=4)
    assert words(network, allocation, input_words=3)
    with pytest.raises(InputError, match=r"processing_element\.input_words: needs 3"):
        words(network, allocation, input_words=2)


def test_a_sum_that_is_not_there_when_it_is_added_to_is_refused() -> None:
    assert words(latency={"add": 3})
    alone = allocated(MNIST, 4, 1, 12, 1, 2)
    with pytest.raises(InputError, match="conv2: latency: goes on with a sum after 2 cycles"):
        words(MNIST, alone, latency={"add": 3})


def test_sums_that_may_overflow_a_register_are_refused() -> None:
    assert words(register_bits=24)
    with pytest.raises(InputError, match=r"conv2: processing_element\.register_bits: needs 23 bits"):
        words(register_bits=20)


@pytest.mark.parametrize(
    ("fields", "model"),
    [({"shared": ((1, 3),)}, "streaming"), ({}, "calculus"), ({"mode": "layer-by-layer"}, "lanes")],
)
def test_only_layers_that_all_work_at_once_at_start_times_have_words(
    fields: dict[str, Any], model: str
) -> None:
    allocation = allocated(MNIST, 4, 1, 8, 1, 2, **fields)
    with pytest.raises(InputError, match="words are those of layers that work at once"):
        words(MNIST, allocation, model)


@pytest.mark.parametrize("divisor", [*range(1, 40), 49, 196, 3136])
def test_a_product_and_a_shift_divide_exactly(divisor: int) -> None:
    file = RegisterFile(Latency())
    steps = {
        name: file.constants[register.number]
        for name, register in divided(file, divisor, 512 * divisor)
        if register is not None
    }
    for x in {*range(3 * divisor), *range(0, 512 * divisor + 1, max(1, divisor // 7)), 512 * divisor - 1}:
        assert (x * steps.get("mul", 1)) >> steps.get("asr", 0) == x // divisor


def test_latencies_are_whole_cycles() -> None:
    assert Latency().multiply == 2
    with pytest.raises(ValueError, match="add"):
        Latency.model_validate({"add": 0})
