"""Small random networks of traced layers, and machines with buffers that they have to be cut for."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from mapper.arch.snowflake import LANES, MACS, UNITS, VMACS, WORD_BYTES, SnowflakeMachine
from mapper.formulations.trace_partition.problem import OBJECTIVES, PartitionProblem, Pin
from mapper.formulations.trace_partition.program.option_cost import words_needed
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.lowering.layer import TensorView, TraceLayer, TraceNetwork, Work
from mapper.models.trace_partition.mapping import Mode, Order, Split
from mapper.solver.method import Effort
from mapper.solver.trace_partition.catalogue import METHODS
from tests.arch import snowflake_machine
from tests.codegen.trace_partition.random_layer import network_of, random_layer

ONE, SHARED, TWO_IMAGES = Configuration(1, 1, 1), Configuration(1, 1, 2), Configuration(1, 2, 2)
TWO_BOARDS = Configuration(2, 2, 1)
MODES: tuple[Mode, ...] = ("coop", "indp")
ORDERS: tuple[Order, ...] = ("maps_stationary", "weights_stationary")
SPLITS: tuple[Split, ...] = ("rows", "out_channels")


def machine(
    clusters: int = 1, maps: int = 4096, weights: int = 8192, bandwidth: float = 4.5
) -> SnowflakeMachine:
    """Snowflake with small buffers, in bytes of a cluster."""
    return snowflake_machine.machine(
        clusters, maps_buffer_bytes=maps, weight_buffer_bytes=weights, bandwidth_gb_s=bandwidth
    )


def view(tensor: str, height: int, width: int, channels: int) -> TensorView:
    """All of a tensor."""
    return TensorView(tensor, height, width, channels, channels)


def layer(
    name: str,
    source: TensorView,
    channels: int,
    kernel: int = 1,
    stride: int = 1,
    work: Work = "convolution",
    **more: Any,
) -> TraceLayer:
    """A layer that reads ``source`` with a square window, padded so that it is not smaller than the window."""
    pad = kernel // 2
    high, wide = ((size + 2 * pad - kernel) // stride + 1 for size in (source.height, source.width))
    ends = tuple(
        (pad, max(0, (out - 1) * stride + kernel - size - pad))
        for out, size in ((high, source.height), (wide, source.width))
    )
    depth = source.channels if work == "convolution" else 1
    channels = channels if work == "convolution" else source.channels
    return TraceLayer(
        name,
        name,
        "MaxPool" if work == "max" else "Conv",
        work,
        source,
        view(f"{name}_out", high, wide, channels),
        kernel=(kernel, kernel),
        stride=(stride, stride),
        pads=(ends[0], ends[1]),
        macs=0 if work == "max" else high * wide * channels * depth * kernel * kernel,
        **more,
    )


def network(*layers: TraceLayer) -> TraceNetwork:
    """Layers one after another."""
    first, last = layers[0].input, layers[-1].output
    views = [first, *(one.output for one in layers)]
    words = tuple((one.tensor, one.height * one.width * one.pitch) for one in views)
    return TraceNetwork("small", layers, words, (("image", first),), (("result", last),))


@st.composite
def chains(draw: st.DrawFn, most: int) -> TraceNetwork:
    """Up to ``most`` layers one after another."""
    side = st.integers(1, 5)
    now = view("image", draw(side), draw(side), draw(st.integers(1, 20)))
    found = []
    for number in range(draw(st.integers(1, most))):
        work: Work = draw(st.sampled_from(("convolution", "convolution", "convolution", "max", "lane")))
        kernel, stride = draw(
            st.sampled_from(((1, 1), (1, 1), (2, 1), (3, 1), (3, 2), (1, 2), (1, 3), (2, 3)))
        )
        relu = draw(st.booleans())
        found.append(layer(f"layer{number}", now, draw(st.integers(1, 20)), kernel, stride, work, relu=relu))
        now = found[-1].output
    return network(*found)


@st.composite
def problems(draw: st.DrawFn, most: int) -> PartitionProblem:
    """Chains with so many decisions pinned that every combination can be tried."""
    chain = draw(chains(most))
    sharing = draw(st.sampled_from((1, 1, 1, 2)))
    small = machine(sharing, draw(st.sampled_from((2048, 8192))), draw(st.sampled_from((2048, 8192))))
    pins = {
        one.name: Pin(
            mode=draw(st.sampled_from(("coop", "indp"))) if one.work == "convolution" else None,
            order=draw(st.sampled_from(("maps_stationary", "weights_stationary")))
            if one.work == "convolution"
            else None,
            columns=one.columns,
            in_channels=one.group_inputs,
            cluster_split="rows" if sharing > 1 else None,
        )
        for one in chain.traced
    }
    objective = draw(st.sampled_from(OBJECTIVES))
    return PartitionProblem(chain, small, Configuration(1, 1, sharing), objective, pins)


@st.composite
def varied_problems(draw: st.DrawFn) -> PartitionProblem:
    """Chains, and single layers of every work with groups, dilation, padding and sums of two tensors, on one cluster,
    on two that share an image, and on two with an image each; on boards of several accelerators. As much is pinned as
    leaves few enough partitions. Half of them such that the paper's rule misses the optimum, where two tries find one.
    """
    tries = draw(st.sampled_from((1, 2)))
    for _ in range(tries):
        posed = draw(any_layers())
        found = METHODS["greedy"].search(posed, Effort())
        best = METHODS["dynamic-programming"].search(posed, Effort())
        if found.value is not None and best.value is not None and found.value > best.value:
            break
    return posed


@st.composite
def any_layers(draw: st.DrawFn, restated: bool = False) -> PartitionProblem:
    """``restated``: without the activations whose cost the checker does not restate."""
    configuration = draw(st.sampled_from((ONE, ONE, SHARED, TWO_IMAGES, TWO_BOARDS)))
    if draw(st.booleans()):
        given = draw(chains(2))
    else:
        layer = random_layer(random.Random(draw(st.integers(0, 1 << 32))))
        given = network_of(replace(layer, clip=None, table=None) if restated else layer)
    board = draw(machines(configuration.clusters))
    pins = {one.name: _pins(draw, one, configuration.sharing, len(given.traced) > 1) for one in given.traced}
    posed = PartitionProblem(given, board, configuration, draw(st.sampled_from(OBJECTIVES)), pins)
    return replace(posed, machine=_just_enough(draw, posed)) if draw(st.integers(0, 3)) == 0 else posed


@st.composite
def machines(draw: st.DrawFn, clusters: int) -> SnowflakeMachine:
    """Boards like the paper's with small buffers, some with all that a machine file may say: the smallest buffers and
    the largest, clocks and memories of any speed, latencies from none to very long, queues of one, energies that are
    free, very dear, or no binary fractions."""
    buffers = st.sampled_from((1024, 2048, 8192))
    fields: dict[str, Any] = {
        "maps_buffer_bytes": draw(buffers),
        "weight_buffer_bytes": draw(buffers),
        "bandwidth_gb_s": draw(st.sampled_from((1.0, 4.5, 20.0))),
    }
    rare = draw(st.sampled_from((None, None, "buffers", "speed", "timing", "energy")))
    if rare == "buffers":
        large = st.sampled_from((1024, 1 << 24))
        fields |= {"maps_buffer_bytes": draw(large), "weight_buffer_bytes": draw(large)}
    elif rare == "speed":
        speeds = st.sampled_from((0.001, 0.007, 123.457, 999999.999, 1e6))
        fields |= {"clock_mhz": draw(speeds), "bandwidth_gb_s": draw(speeds)}
    elif rare == "timing":
        cycles, waiting = st.sampled_from((0, 1, 1 << 24)), st.sampled_from((1, 2, 1 << 16))
        fields["timing"] = {
            "memory_latency": draw(cycles),
            "vector_latency": draw(cycles),
            "vector_queue": draw(waiting),
            "transfer_queue": draw(waiting),
        }
    elif rare == "energy":
        prices = st.sampled_from((0.0, 0.1, 7.0, 1e-7, 1e9))
        fields["energy_pj"] = {
            name: draw(prices) for name in ("mac", "buffer_word", "dram_byte", "cluster_cycle")
        }
    return snowflake_machine.machine(clusters, **fields)


def _just_enough(draw: st.DrawFn, problem: PartitionProblem) -> SnowflakeMachine:
    """The machine with a buffer of just what the largest layer of the best partition needs, or a step less."""
    best = METHODS["dynamic-programming"].search(problem, Effort()).mapping
    if best is None:
        return problem.machine
    needs = [
        words_needed(problem, one, mapping)
        for one, mapping in zip(problem.network.traced, best.layers, strict=True)
    ]
    words = max(need[0] for need in needs if need), max(need[1] for need in needs if need)
    less = draw(st.booleans())
    field, step, used = draw(
        st.sampled_from(
            (
                ("maps_buffer_bytes", UNITS * LANES * WORD_BYTES, words[0] * UNITS * WORD_BYTES),
                ("weight_buffer_bytes", 2 * MACS * WORD_BYTES, words[1] * UNITS * VMACS * WORD_BYTES),
            )
        )
    )
    size = max(1024, (-(-used // step) - less) * step)
    return problem.machine.model_copy(update={field: size})


def _pins(draw: st.DrawFn, one: TraceLayer, sharing: int, several: bool) -> Pin:
    convolution = one.work == "convolution"
    mode = draw(st.sampled_from(MODES)) if convolution and (several or draw(st.booleans())) else None
    order = draw(st.sampled_from(ORDERS)) if convolution and (several or draw(st.booleans())) else None
    return Pin(
        mode=mode,
        order=order,
        rows=draw(st.sampled_from((None, None, one.rows, 1))),
        columns=draw(st.sampled_from((one.columns, one.columns, max(1, one.columns // 2)))),
        in_channels=draw(st.sampled_from((one.group_inputs, one.group_inputs, min(16, one.group_inputs)))),
        cluster_split=draw(st.sampled_from(SPLITS)) if sharing > 1 else None,
        input_resident=draw(st.sampled_from((None, None, None, False))),
    )
