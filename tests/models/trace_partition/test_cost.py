"""What a partition costs is what its steps take, event by event, and what they move."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.arch.snowflake import SnowflakeMachine
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.cost import evaluate, layer_cost
from mapper.models.trace_partition.lowering.layer import HostLayer, TraceLayer, TraceNetwork
from mapper.models.trace_partition.mapping import LayerMapping, Partition
from mapper.models.trace_partition.partition_cost import CAUSES, OPERANDS
from mapper.models.trace_partition.steps.plan import LayerPlan, StepClass, plan_layer
from mapper.models.trace_partition.steps.step import Step, Transfer
from mapper.models.trace_partition.steps.transfer_size import TransferGroup, transfer_groups
from mapper.models.trace_partition.timing.compute_time import step_timing
from mapper.models.trace_partition.timing.register_use import object_need, register_loads, transfer_need
from tests.arch.snowflake_machine import machine
from tests.models.trace_partition.example import layer_of, layers, mappings, whole

ONE = Configuration(1, 1, 1)


class Events:
    """One cluster's core, vector unit and transfers, in the order in which they happen."""

    def __init__(self, on: SnowflakeMachine) -> None:
        self.on = on
        self.byte = Fraction(*on.cycles_per_byte)
        self.core = self.vector = 0
        self.memory = self.owed = Fraction(0)
        self.asked = False
        self.unfinished: list[int] = []
        self.stored: dict[int, int] = {}

    def settle(self) -> None:
        """The memory is known up to where the core is: what data left free was there for instructions."""
        self.owed -= min(self.owed, max(Fraction(0), self.core - self.memory))
        self.memory = max(self.memory, Fraction(self.core))

    def request(self, groups: Sequence[TransferGroup], registers: Sequence[int], latency: int) -> int:
        """Transfers one after another; answers when the last is finished."""
        ready = 0
        for group, loaded in zip(groups, registers, strict=True):
            self.core += loaded
            for _ in range(group.turns):
                self.unfinished = [end for end in self.unfinished if end > self.core]
                if len(self.unfinished) >= self.on.timing.transfer_queue:
                    self.core = sorted(self.unfinished)[-self.on.timing.transfer_queue]
                work = group.fill_cycles or self.byte * 2 * group.first.total_words
                self.settle()
                # Beside data, instructions have a 32nd of the time.
                also = min(
                    self.owed, Fraction(math.floor(work * self.byte.denominator / 31), self.byte.denominator)
                )
                self.owed -= also
                self.memory += work + also
                self.asked = True
                ready = math.ceil(self.memory) + latency
                self.unfinished.append(ready)
                self.core += group.instructions
        return ready

    def wait(self, until: int) -> None:
        self.core = max(self.core, until) + 1


class Coded:
    """A step with its groups of transfers and the instructions that bring numbers into registers."""

    def __init__(self, step: Step, on: SnowflakeMachine) -> None:
        self.step = step
        self.loads = [group for load in step.loads for group in transfer_groups(load.transfers)]
        self.stores = transfer_groups(step.store.transfers if step.store else ())
        needs = [
            *map(transfer_need, self.loads),
            *map(object_need, step.compute),
            *map(transfer_need, self.stores),
        ]
        registers = register_loads(needs)
        computed = len(needs) - len(self.stores)
        self.loading, self.storing = registers[: len(self.loads)], registers[computed:]
        self.timing = step_timing(step.compute, registers[len(self.loads) : computed], on.timing)
        moving = sum(group.instructions for group in (*self.loads, *self.stores))
        waits = 2 * bool(self.loads) + 2 * bool(self.stores)
        self.size = self.timing.instructions + sum(self.loading) + sum(self.storing) + moving + waits


def representative(plan: LayerPlan, kind: StepClass) -> Step:
    """A step of its class, whose numbers stand for those of all."""
    loads = tuple(plan.load(load) for load in kind.loads)
    return Step(loads, plan.compute(kind.compute), None if kind.store is None else plan.store(kind.store))


def event_by_event(layer: TraceLayer, mapping: LayerMapping, on: SnowflakeMachine) -> int:
    plan = plan_layer(layer, mapping, on)
    buffers = [step.store.buffer if step.store else 0 for step in plan.steps()]
    coded = {kind: Coded(representative(plan, kind), on) for kind in set(plan.classes())}
    steps = [coded[kind] for kind in plan.classes()]
    events, computing, arrived = Events(on), False, 0
    for place in range(-1, len(steps)):
        awaited, arrived = arrived, 0
        if place + 1 < len(steps):
            later = steps[place + 1]
            events.owed += 4 * later.size * events.byte
            if later.loads:
                if computing:
                    events.wait(events.vector)
                computing = False
                arrived = events.request(later.loads, later.loading, on.timing.memory_latency)
        if place < 0:
            continue
        if events.asked:
            events.settle()
        events.asked = False
        this = steps[place]
        store, timing, buffer = this.step.store, this.timing, buffers[place]
        if awaited:
            events.wait(awaited)
        if store and buffer in events.stored:
            events.wait(events.stored[buffer])
        bank = 512 * 4 * events.byte
        if events.owed > bank:
            events.settle()
        if events.owed > bank:
            # Two banks hold the code at work and that which is to come; beyond that the core waits for it.
            events.memory += events.owed - bank
            events.owed = bank
            events.core = max(events.core, math.ceil(events.memory))
        begin = events.core
        events.vector = max(begin + timing.cycles, events.vector + timing.vector + timing.conflict)
        events.core = max(begin + timing.issue, events.vector - timing.cycles + timing.issue)
        computing = True
        if store:
            events.wait(events.vector)
            computing = False
            events.stored[buffer] = events.request(this.stores, this.storing, 0)
    finished = max(events.core, events.vector, *events.stored.values(), 0) + 1
    return max(finished, math.ceil(events.memory + events.owed))


def moved(transfers: Sequence[Transfer]) -> int:
    return 2 * sum(transfer.total_words for transfer in transfers)


@settings(derandomize=True, deadline=None, max_examples=12)
@given(st.data())
def test_a_layer_takes_the_time_of_its_events(data: st.DataObject) -> None:
    layer = data.draw(layers())
    mapping = data.draw(mappings(layer, 1))
    on = machine().model_copy(update={"bandwidth_gb_s": data.draw(st.sampled_from((0.25, 4.5, 50.0)))})
    assert layer_cost(layer, mapping, on, ONE).cycles == event_by_event(layer, mapping, on)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(st.data())
def test_bytes_are_those_of_all_transfers_and_causes_add_up(data: st.DataObject) -> None:
    layer = data.draw(layers())
    configuration = data.draw(st.sampled_from((ONE, Configuration(1, 1, 2), Configuration(1, 2, 2))))
    if layer.groups % configuration.sharing:
        configuration = ONE
    mapping = data.draw(mappings(layer, configuration.sharing))
    cost = layer_cost(layer, mapping, machine(), configuration)
    expected: Counter[str] = Counter()
    for cluster in range(configuration.clusters):
        share = cluster if configuration.sharing > 1 else 0
        for step in plan_layer(layer, mapping, machine(), configuration.sharing, share).steps():
            for load in step.loads:
                expected[load.operand] += moved(load.transfers)
            expected["output"] += moved(step.store.transfers) if step.store else 0
    found = {operand: size for operand, size in cost.bytes.items() if operand != "instructions" and size}
    assert found == {operand: size for operand, size in expected.items() if size}
    assert cost.bytes["instructions"] == 4 * cost.instructions
    assert sum(cost.causes.values()) == cost.cycles
    assert min(cost.causes.values()) >= 0
    assert (*cost.causes,) == CAUSES
    assert (*cost.bytes,) == OPERANDS


def image(**changes: int) -> tuple[TraceLayer, LayerMapping]:
    layer = replace(layer_of(18, 16, 64, 256, 3), macs=16 * 14 * 9 * 64 * 256)
    return layer, whole(layer, mode="indp", unit_split="rows", tile={"out_channels": 64} | changes)


def test_more_bandwidth_does_not_slow_a_layer_down_and_less_leaves_it_bound_by_memory() -> None:
    layer, mapping = image()
    costs = {
        speed: layer_cost(layer, mapping, machine().model_copy(update={"bandwidth_gb_s": speed}), ONE)
        for speed in (0.1, 4.5, 45.0)
    }
    assert costs[0.1].cycles > costs[4.5].cycles >= costs[45.0].cycles
    assert costs[0.1].bound_by == "memory"
    assert costs[45.0].bound_by == "compute"


def test_two_clusters_halve_an_image_and_double_the_images() -> None:
    layer, mapping = image()
    on = machine().model_copy(update={"clusters": 2, "bandwidth_gb_s": 45.0})
    alone = layer_cost(layer, mapping, on, ONE)
    halves = replace(mapping, cluster_split="rows", tile=replace(mapping.tile, rows=8))
    shared = layer_cost(layer, halves, on, Configuration(1, 1, 2))
    each = layer_cost(layer, mapping, on, Configuration(1, 2, 2))
    assert shared.cycles == pytest.approx(alone.cycles / 2, rel=0.05)
    assert each.cycles == pytest.approx(alone.cycles, rel=0.05)
    assert each.throughput_fps == pytest.approx(2 * 2e8 / each.cycles)
    assert each.dram_bytes == 2 * alone.dram_bytes
    assert shared.bytes["weights"] == 2 * alone.bytes["weights"]


def test_the_memory_serves_clusters_in_turn() -> None:
    layer, mapping = image()
    slow = machine().model_copy(update={"clusters": 2, "bandwidth_gb_s": 0.1})
    alone = layer_cost(layer, mapping, slow, ONE)
    each = layer_cost(layer, mapping, slow, Configuration(1, 2, 2))
    assert each.cycles == pytest.approx(2 * alone.cycles, rel=0.1)


def network(layer: TraceLayer) -> TraceNetwork:
    views = (layer.input, layer.output)
    host = HostLayer("lrn1", "n2", "LRN", (layer.output,), layer.output, 1000, "has no square roots")
    tensors = tuple((view.tensor, view.height * view.width * view.pitch) for view in views)
    return TraceNetwork("one", (layer, host), tensors, (("in", views[0]),), (("out", views[1]),))


def test_the_cost_of_a_network_has_the_keys_of_the_document_and_whole_numbers() -> None:
    layer, mapping = image()
    cost = evaluate(network(layer), machine(), ONE, Partition((mapping,)))
    document = cost.cost_json()
    keys = "cycles latency_ms throughput_fps dram_bytes bandwidth_gb_s efficiency energy_pj"
    assert [*document] == keys.split()
    assert type(document["cycles"]) is int and type(document["dram_bytes"]) is int
    assert document["latency_ms"] == pytest.approx(cost.cycles / 2e5)
    assert document["efficiency"] == pytest.approx(cost.total.products / 256 / cost.cycles)
    assert document["bandwidth_gb_s"] == pytest.approx(cost.dram_bytes / (cost.cycles / 2e8) / 1e9)
    broken_down = cost.breakdown_json()
    assert sum(broken_down["cycles"].values()) == cost.cycles
    assert sum(broken_down["bytes"].values()) == cost.dram_bytes


def test_a_layer_without_products_has_no_efficiency() -> None:
    layer = layer_of(8, 8, 16, 16, 2, work="max")
    assert layer_cost(layer, whole(layer), machine(), ONE).efficiency is None


def test_energy_is_paid_for_products_words_bytes_and_cycles() -> None:
    layer, mapping = image()
    free = dict.fromkeys(("mac", "buffer_word", "dram_byte", "cluster_cycle"), 0.0)
    for name in free:
        prices = machine().energy_pj.model_copy(update=free | {name: 2.0})
        cost = layer_cost(layer, mapping, machine().model_copy(update={"energy_pj": prices}), ONE)
        counted = (cost.macs, cost.buffer_words, cost.dram_bytes, cost.cycles)
        assert cost.energy_pj == 2 * dict(zip(free, counted, strict=True))[name]


def test_fine_and_long_times_of_a_byte_stay_within_64_bits() -> None:
    layer, mapping = image()
    for clock, speed in ((1e6, 0.001), (0.001, 1e6), (123.457, 987.653)):
        odd = machine().model_copy(update={"clock_mhz": clock, "bandwidth_gb_s": speed})
        cost = layer_cost(layer, mapping, odd, ONE)
        assert cost.cycles >= (cost.dram_bytes - 4) * Fraction(*odd.cycles_per_byte)
