"""What an allocation costs: PEs, throughput, latency, buffers and traffic [Heidorn2019, sec. 5]."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from mapper.arch.tcpa import TcpaMachine
from mapper.models.pe_allocation import calculus, segment, storage
from mapper.models.pe_allocation.calculus import LayerTiming
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream import timing as streaming
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.models.pe_allocation.stream.pipeline import drains

Model = Literal["streaming", "calculus", "lanes"]
MODELS: tuple[Model, ...] = ("streaming", "calculus", "lanes")
"""By which cycles and buffers are counted, the default first."""


@dataclass(frozen=True)
class AllocationCost:
    """``cycles``: latency L of one frame by ``model``; ``interval``: cycles between frames; ``start`` of the layer that
    ends last. Words of the buffers by what they hold, and words that cross the chip's border per frame; ``timed``: the
    layers' timings, starts counted from the frame's start."""

    machine: TcpaMachine
    model: Model
    pes: int
    cycles: int
    interval: int
    start: int
    weight_words: int
    intermediate_words: int
    map_words: int
    traffic_words: int
    macs: int
    timed: tuple[LayerTiming, ...]

    @property
    def drain(self) -> int:
        """The drain of the layer that ends last."""
        return max(self.timed, key=lambda timing: timing.end).drain

    @property
    def throughput(self) -> Fraction:
        """Frames per second, exactly."""
        return Fraction(self.machine.clock_hz, self.interval)

    @property
    def buffer_bytes(self) -> int:
        return (self.weight_words + self.intermediate_words + self.map_words) * self.machine.word_bytes

    @property
    def traffic_bytes(self) -> int:
        return self.traffic_words * self.machine.word_bytes

    def cost_json(self) -> dict[str, Any]:
        """The cost keys of the kind."""
        return {
            "pes": self.pes,
            "throughput_fps": float(self.throughput),
            "cycles": self.cycles,
            "latency_ms": self.cycles * 1000 / self.machine.clock_hz,
            "buffer_bytes": self.buffer_bytes,
        }

    def breakdown_json(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Where cycles and bytes go, what crosses the chip's border, and every layer's timing."""
        width = self.machine.word_bytes
        return {
            "cycles": {
                "start": self.start,
                "last_layer": self.cycles - self.start - self.drain,
                "drain": self.drain,
            },
            "bytes": {
                "weights": self.weight_words * width,
                "intermediate": self.intermediate_words * width,
                "maps": self.map_words * width,
            },
            "off_chip_bytes": self.traffic_bytes,
            "macs_per_byte": self.macs / self.traffic_bytes,
            "layers": {
                name: {
                    "z_in": timing.z_in,
                    "z_out": timing.z_out,
                    "start": timing.start,
                    "latency": timing.latency,
                    "drain": timing.drain,
                }
                for name, timing in zip(names, self.timed, strict=True)
            },
        }


def evaluate(
    network: StreamNetwork, machine: TcpaMachine, allocation: Allocation, model: Model
) -> AllocationCost:
    """The cost of an allocation, whether or not it keeps the rules (the referee says that)."""
    if allocation.mode == "layer-by-layer":
        return _sequential(network, machine, allocation, model)
    z_out = tuple(
        cycles + idle
        for cycles, idle in zip(
            calculus.unthrottled(network, allocation.pes, allocation.delta), allocation.throttle, strict=True
        )
    )
    if allocation.mode == "mixed" and len(allocation.segments) > 1:
        return _mixed(network, machine, allocation, z_out, model)
    return _parallel(network, machine, allocation, z_out, model)


def pes_used(allocation: Allocation, members: range) -> int:
    """PEs of the layers at ``members``; one that layers share counts once."""
    repeats = sum(max(0, len([at for at in group if at in members]) - 1) for group in allocation.shared)
    return sum(allocation.pes[position] for position in members) - repeats


def _parallel(
    network: StreamNetwork, machine: TcpaMachine, allocation: Allocation, z_out: tuple[int, ...], model: Model
) -> AllocationCost:
    every = range(len(network.layers))
    weights, intermediate = storage.fused_words(network, every)
    if model == "streaming":
        timed = streaming.streamed(network, z_out, drains(network.layers, machine, model))
        cycles = streaming.latency(timed)
        intermediate = sum(streaming.line_buffer_peaks(network, timed))
    else:
        timed = calculus.timings(network, z_out)
        cycles = calculus.frame_latency(network, timed)
    last = max(network.sinks, key=lambda sink: timed[sink].end)
    return AllocationCost(
        machine,
        model,
        pes_used(allocation, every),
        cycles,
        calculus.frame_interval(timed),
        min(timed[last].start, cycles),
        weights,
        intermediate,
        0,
        storage.entering_words(network, every) + storage.leaving_words(network, every),
        network.macs,
        timed,
    )


def _sequential(
    network: StreamNetwork, machine: TcpaMachine, allocation: Allocation, model: Model
) -> AllocationCost:
    """One layer after the other (Eqs. 3 to 5 and 14), which in the streaming model waits for its last pixel; maps go
    off the chip and come back, weights come each time."""
    rule = calculus.lane_cycles if model == "lanes" else calculus.position_cycles
    timed, now = list[LayerTiming](), 0
    given = zip(network.layers, allocation.pes, allocation.delta, allocation.throttle, strict=True)
    for (layer, pes, delta, idle), drain in zip(given, drains(network.layers, machine, model), strict=True):
        z_out = rule(layer, pes, delta) + idle
        timed.append(LayerTiming(0, z_out, now, z_out * layer.positions, drain))
        now = timed[-1].end
    largest = max(network.layers, key=lambda layer: storage.sequential_words(network, layer))
    return AllocationCost(
        machine,
        model,
        max(allocation.pes),
        now,
        now,
        timed[-1].start,
        largest.weight_words,
        0,
        storage.input_words(network, largest) + storage.output_words(largest),
        sum(storage.sequential_words(network, layer) for layer in network.layers),
        network.macs,
        tuple(timed),
    )


def _mixed(
    network: StreamNetwork, machine: TcpaMachine, allocation: Allocation, z_out: tuple[int, ...], model: Model
) -> AllocationCost:
    """Runs of fused layers one after another; a single run of all layers is the mode ``layer-parallel``."""
    timed: list[LayerTiming] = []
    now = last = traffic = pes = 0
    largest = (0, 0, 0)
    for number, members in enumerate(allocation.parts()):
        if model == "streaming":
            inner = streaming.streamed(network, z_out, drains(network.layers, machine, model), members)
        else:
            inner = segment.segment_timings(network, members, z_out)
        last = now
        now += max(timing.end for timing in inner)
        timed += [replace(timing, start=last + timing.start) for timing in inner]
        weights, intermediate = storage.fused_words(network, members)
        if model == "streaming":
            intermediate = sum(streaming.line_buffer_peaks(network, inner, members))
        words = (weights, intermediate, segment.held_words(network, allocation, number))
        largest = max(largest, words, key=sum)
        traffic += words[0] + segment.off_chip_words(network, allocation, number)
        pes = max(pes, pes_used(allocation, members))
    return AllocationCost(machine, model, pes, now, now, last, *largest, traffic, network.macs, tuple(timed))
