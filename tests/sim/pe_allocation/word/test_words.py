"""Programs of PEs executed word by word: the numbers and cycles of the folded simulation, on any PE."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mapper.models.pe_allocation.configuration.configuration import configure
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.sim.pe_allocation.data import seeded
from mapper.sim.pe_allocation.simulation import simulate
from mapper.sim.pe_allocation.word import execution, machine
from mapper.sim.pe_allocation.word.report import programmed
from mapper.workloads.document import InputError
from tests.sim.pe_allocation.example import Net, allocated, array, network_called
from tests.sim.pe_allocation.test_simulation import networks
from tests.sim.pe_allocation.word.example import executed

MNIST = network_called("mnist-tcpa")
PAPER = allocated(MNIST, 4, 1, 8, 1, 2)


@pytest.mark.parametrize(
    ("name", "pes"),
    [
        ("mnist-tcpa", (4, 1, 8, 1, 2)),
        ("mnist-tcpa", (7, 1, 5, 1, 3)),
        ("lenet5", ()),
        ("lenet5", (5, 1, 16, 1)),
    ],
)
def test_whole_networks_run_as_the_folded_simulation_says(name: str, pes: tuple[int, ...]) -> None:
    network = network_called(name)
    allocation = allocated(network, *pes)
    configuration = configure(network, array(), allocation, "streaming")
    data = seeded(configuration, 2, 1)
    folded = simulate(configuration, array(), data, 2)
    made = programmed(configuration, data, array().processing_element)
    run = simulate(made.configuration, array(), data, 2, made.words)
    assert run.violations == ()
    assert all(np.array_equal(maps, folded.outputs[at]) for at, maps in run.outputs.items())
    assert (run.starts, run.ends, run.peaks) == (folded.starts, folded.ends, folded.peaks)


def test_the_report_says_what_unit_latencies_cost() -> None:
    found = executed(MNIST, PAPER)
    assert found["agrees"] and not found["failed"] and found["outputs_equal"]
    # A product of 2 cycles, a sum, for two units one more, a shift and two comparisons; the last cycle is the work's.
    assert [own["drain"] for own in found["words"].values()] == [5, 0, 6, 0, 6]
    model = found["physical"]["latency"]
    assert model["model"] == model["measured"] == found["cost_simulated"]["cycles"]


def test_units_of_other_latencies_compute_the_same() -> None:
    slow = {"multiply": 4, "add": 3, "compare": 2, "shift": 5, "move": 2}
    found = executed(MNIST, PAPER, latency=slow)
    assert found["agrees"]
    # 4 + 3 + 3 + 5 + 2 + 2 cycles, the first of them the work's.
    assert found["words"]["conv2"]["drain"] == 18


LATENCIES = st.fixed_dictionaries(
    {
        **{name: st.integers(1, 3) for name in ("multiply", "shift", "move")},
        **{name: st.sampled_from([1, 1, 1, 2]) for name in ("add", "compare")},
    }
)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(networks(), LATENCIES, st.data())
def test_any_network_runs_word_by_word_on_any_pe(
    network: StreamNetwork, latency: dict[str, int], data: st.DataObject
) -> None:
    count = len(network.layers)
    pes = tuple(data.draw(st.integers(1, 3)) for _ in range(count))
    idle = tuple(data.draw(st.integers(0, 12)) for _ in range(count))
    allocation = allocated(network, *pes, delta=data.draw(st.integers(1, 4)), idle=idle)
    try:
        found = executed(network, allocation, data.draw(st.integers(0, 5)), latency=latency)
    except InputError as error:
        # Sums that are not there in time; nothing else is refused.
        assert error.field == "latency"
        assume(False)
    assert found["outputs_equal"] and found["violations"] == []
    assert found["agrees"]
    assert all(own["last_result"] <= own["drain"] for own in found["words"].values())


def test_plain_python_executes_the_same() -> None:
    network = Net((4, 4), 2).convolution(3, 2).pool(2, op="AveragePool").network()
    configuration = configure(network, array(), allocated(network, 2, 1), "streaming")
    data = seeded(configuration, 1, 3)
    made = programmed(configuration, data, array().processing_element)
    code = simulate(made.configuration, array(), data, 1, made.words)
    with patch.object(execution, "run", machine.run.plain):
        plain = simulate(made.configuration, array(), data, 1, made.words)
    assert plain.violations == code.violations == ()
    assert np.array_equal(plain.outputs[1], code.outputs[1])
