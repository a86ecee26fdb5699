"""Every rule of a layer on PEs with any number of units, word by word against the reference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mapper.models.pe_allocation.configuration.configuration import configure
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.sim.pe_allocation.data import seeded
from mapper.sim.pe_allocation.reference import reference
from mapper.sim.pe_allocation.simulation import Run, simulate
from mapper.sim.pe_allocation.violation import PROGRAM
from mapper.sim.pe_allocation.word.report import Programmed, programmed
from mapper.workloads.document import InputError
from tests.sim.pe_allocation.example import Net, allocated, array
from tests.sim.pe_allocation.word.example import with_pe

PAIR = Net((3, 4), 4).convolution(4, 1).convolution(4, 1, -1)


def joined(op: str, *feeds: int) -> Net:
    net = Net(PAIR.size, PAIR.maps)
    net.layers = [*PAIR.layers, *Net((3, 4), 4).convolution(4, 1, -1).layers]
    return net.elementwise(op, *feeds)


def rectified(net: Net) -> Net:
    net.layers[-1] = replace(net.layers[-1], merged=("Relu",))
    return net


NETS: dict[str, Net] = {
    "convolution": Net((5, 5), 3).convolution(5, pads=(1, 1)),
    "a rectified convolution": Net((5, 5), 3).convolution(5, merged=("Relu",)),
    "one product a sum": Net((3, 3), 1).convolution(4, 1),
    "groups": Net((4, 4), 6).convolution(9, 2, groups=3),
    "a filter for each map": Net((5, 4), 5).convolution(5, 3, groups=5, strides=(2, 1)),
    "dilated": Net((7, 7), 2).convolution(3, 2, dilations=(3, 2)),
    "largest pixel": Net((6, 6), 5).pool(3, op="MaxPool", strides=(1, 2), pads=(1, 1)),
    "rectified largest pixel": Net((4, 4), 5).pool(2, op="MaxPool", merged=("Relu",)),
    "one pixel": Net((3, 3), 3).pool(1, op="MaxPool"),
    "average of nine": Net((6, 6), 5).pool(3, op="AveragePool", pads=(1, 1)),
    "average of four": Net((4, 4), 3).pool(2, op="AveragePool", merged=("Relu",)),
    "average of all": Net((7, 7), 3).pool(7, op="GlobalAveragePool"),
    "sum": joined("Add", 0, 1),
    "rectified sum of three": rectified(joined("Sum", 0, 1, 2)),
    "mean of two": joined("Mean", 0, 1),
    "rectified mean of three": rectified(joined("Mean", 0, 1, 2)),
    "product": joined("Mul", 0, 1),
    "difference": joined("Sub", 0, 1),
    "largest of three": joined("Max", 0, 1, 2),
    "smallest": rectified(joined("Min", 0, 1)),
    "normalisation": joined("BatchNormalization", 0),
    "rectifier": joined("Relu", 0),
    "what passes": joined("Sigmoid", 0),
    "what passes, rectified": rectified(joined("Sigmoid", 0)),
}


def run(network: StreamNetwork, *pes: int, delta: int = 2) -> tuple[Run, bool]:
    """The run, and whether its outputs are those of the reference."""
    machine = with_pe(max(2, delta))
    configuration = configure(network, machine, allocated(network, *pes, delta=delta), "streaming")
    data = seeded(configuration, 2, 4)
    made = programmed(configuration, data, machine.processing_element)
    found = simulate(made.configuration, machine, data, 2, made.words)
    expected = reference(configuration, data)
    return found, all((maps == expected[at]).all() for at, maps in found.outputs.items())


@pytest.mark.parametrize(("pes", "delta"), [(1, 2), (2, 2), (3, 1), (2, 3), (1, 5)])
@pytest.mark.parametrize("name", NETS)
def test_every_rule_computes_what_the_reference_does(name: str, pes: int, delta: int) -> None:
    network = NETS[name].network()
    found, equal = run(network, *((pes,) * len(network.layers)), delta=delta)
    assert found.violations == () and equal


@pytest.mark.parametrize(("pes", "delta"), [(1, 1), (1, 2), (2, 3), (4, 4)])
def test_products_of_three_are_shifted_back_one_after_another(pes: int, delta: int) -> None:
    network = joined("Mul", 0, 1, 2).network()
    found, equal = run(network, *((pes,) * len(network.layers)), delta=delta)
    assert found.violations == () and equal


def test_a_product_that_is_not_there_for_the_third_operand_is_refused() -> None:
    network = joined("Mul", 0, 1, 2).network()
    with pytest.raises(InputError, match="elementwise3: latency: goes on with a sum after 1 cycles"):
        run(network, *((4,) * len(network.layers)), delta=1)


def changed(made: Programmed, **fields: Any) -> Programmed:
    """The first PE of the first layer with other code."""
    layer = made.words[0]
    pe = layer.pes[0]
    assert pe is not None
    other = replace(layer, pes=(replace(pe, code=replace(pe.code, **fields)), *layer.pes[1:]))
    return replace(made, words=(other, *made.words[1:]))


def faulty(**fields: Any) -> tuple[tuple[str, ...], bool]:
    """What goes wrong with such code in a convolution's first PE, and whether outputs are those of the reference."""
    network = NETS["convolution"].network()
    configuration = configure(network, array(), allocated(network, 2), "streaming")
    data = seeded(configuration, 2, 4)
    made = changed(programmed(configuration, data, array().processing_element), **fields)
    found = simulate(made.configuration, array(), data, 2, made.words)
    said = tuple(one.place for one in found.violations if one.rule == PROGRAM)
    return said, bool((found.outputs[0] == reference(configuration, data)[0]).all())


def code_of() -> Any:
    network = NETS["convolution"].network()
    configuration = configure(network, array(), allocated(network, 2), "streaming")
    made = programmed(configuration, seeded(configuration, 2, 4), array().processing_element)
    pe = made.words[0].pes[0]
    assert pe is not None
    return pe.code


CODE = code_of()


def test_numbers_come_out_of_the_programs_constants() -> None:
    fifo = replace(CODE.fifos[0], content=tuple(value + 4096 for value in CODE.fifos[0].content))
    assert faulty() == ((), True)
    assert faulty(fifos=(fifo, *CODE.fifos[1:])) == ((), False)
    assert faulty(constants=(CODE.constants[0] + 1, *CODE.constants[1:])) == ((), False)


def test_numbers_come_out_of_the_words() -> None:
    words = [
        replace(
            word,
            operations=tuple(
                replace(one, name="sub") if one.name == "add" else one for one in word.operations
            ),
        )
        for word in CODE.words
    ]
    assert faulty(words=tuple(words)) == ((), False)


def test_a_branch_that_is_not_there_is_seen() -> None:
    words = (*CODE.words[:-1], replace(CODE.words[-1], branches=((9, 0),)))
    assert faulty(words=words)[0] == ("convolution0, PE 0: no word for a signal",)


def test_a_fifo_that_is_read_too_soon_is_seen() -> None:
    empty = replace(CODE.fifos[0], content=())
    assert faulty(fifos=(empty, *CODE.fifos[1:]))[0] == ("convolution0, PE 0: an empty FIFO is read",)


def test_a_fifo_without_room_is_seen() -> None:
    small = replace(CODE.fifos[1], room=1)
    said, _ = faulty(fifos=(CODE.fifos[0], small))
    assert said == ("convolution0, PE 0: a full FIFO is written",)
