"""Random small layers of every work, chains of them, mappings that fit a machine, constants and images."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from mapper.arch.snowflake import SnowflakeMachine
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.data.quantisation import LayerData
from mapper.models.trace_partition.lowering.layer import TensorView, TraceLayer, TraceNetwork
from mapper.models.trace_partition.mapping import LayerMapping, Partition, Tile
from mapper.models.trace_partition.residency import linked, obstacle
from mapper.models.trace_partition.steps.plan import plan_layer
from mapper.models.trace_partition.tile.share import misfit
from mapper.models.trace_partition.tile.window import window_classes
from tests.models.trace_partition.example import random_table

Words = npt.NDArray[np.int16]


def random_layer(rng: random.Random, work: str | None = None) -> TraceLayer:
    """A layer from tensor ``x`` to tensor ``y`` (and ``r`` where something is added), seldom larger than a few
    thousand products."""
    work = work or rng.choice(["convolution", "convolution", "lane", "max"])
    kernel = (rng.choice([1, 1, 2, 3, 5]), rng.choice([1, 1, 2, 3]))
    stride = (rng.choice([1, 1, 2, 3]), rng.choice([1, 1, 2]))
    dilation = (rng.choice([1, 1, 2]), rng.choice([1, 1, 2]))
    rows, columns = rng.randint(1, 11), rng.randint(1, 9)
    upsample = (1, 1)
    groups, inputs, outputs = 1, rng.choice([1, 3, 5, 16, 20, 40]), rng.choice([1, 4, 7, 16, 30, 70])
    average = None
    if work == "convolution":
        if rng.random() < 0.2:
            groups = rng.choice([2, 3])
        if rng.random() < 0.2:
            upsample = (rng.choice([1, 2]), rng.choice([1, 2, 3]))
    else:
        groups = inputs = outputs = rng.choice([1, 5, 16, 64, 70, 130])
        average = rng.choice([None, "all", "inside"]) if work == "lane" else None
    pads, sizes = [], []
    for axis, given in enumerate((rows, columns)):
        span = (kernel[axis] - 1) * dilation[axis] + 1
        padded = work != "max" or dilation[axis] == 1  # a maximum over padding alone is refused
        begin = rng.randint(0, min(2, span - 1)) if padded else 0
        spread = (given - 1) * upsample[axis] + 1
        if spread + begin < span:
            begin = 0
            given = -(-(span - 1) // upsample[axis]) + 1
            spread = (given - 1) * upsample[axis] + 1
        end = rng.randint(0, min(2, span - 1)) if padded else 0
        sizes.append((given, (spread + begin + end - span) // stride[axis] + 1))
        last = (sizes[-1][1] - 1) * stride[axis] + span
        pads.append((begin, max(0, last - spread - begin)))
    (height, high), (width, wide) = sizes
    channels = inputs * groups if work == "convolution" else inputs
    results = outputs * groups if work == "convolution" else outputs
    mfm = work == "convolution" and groups == 1 and rng.random() < 0.2
    extra = rng.choice([0, 0, 3, 32])
    residual = None
    if work != "max" and not mfm and rng.random() < 0.3:
        residual = TensorView("r", high, wide, results, results + extra)
    made = TraceLayer(
        "layer1",
        "n1",
        "Op",
        work,  # type: ignore[arg-type]
        TensorView("x", height, width, channels, channels + extra, extra),
        TensorView("y", high, wide, results, results + 2 * extra, extra),
        residual,
        kernel,
        stride,
        dilation if work != "lane" or average is None else (1, 1),
        upsample,
        (pads[0], pads[1]),
        groups if work == "convolution" else 1,
        rng.random() < 0.5,
        mfm,
        average,  # type: ignore[arg-type]
    )
    clip, table = rng.choice([None, None, None, (0, 1536), (-700, 300)]), rng.choice([None, None, "function"])
    return replace(made, clip=clip, table=table)  # type: ignore[arg-type]


def random_gated(rng: random.Random) -> TraceLayer:
    """A layer that multiplies each channel of tensor ``x`` by a number of tensor ``g``."""
    size, channels = (rng.randint(1, 11), rng.randint(1, 9)), rng.choice([1, 5, 16, 64, 70, 130])
    extra = rng.choice([0, 0, 3, 32])
    return TraceLayer(
        "layer1",
        "n1",
        "Mul",
        "lane",
        TensorView("x", *size, channels, channels + extra, extra),
        TensorView("y", *size, channels, channels + 2 * extra, extra),
        relu=rng.random() < 0.3,
        table=rng.choice([None, None, "function"]),
        gate=TensorView("g", 1, 1, channels, channels + extra, extra),
    )


def random_mapping(
    rng: random.Random, layer: TraceLayer, on: SnowflakeMachine, sharing: int = 1
) -> LayerMapping:
    """A mapping of ``layer`` that it admits and whose tiles fit ``on``."""
    while True:
        mapping = LayerMapping(
            rng.choice(["coop", "indp"]) if layer.work == "convolution" else "indp",
            Tile(
                rng.choice([layer.rows, rng.randint(1, layer.rows)]),
                rng.choice([layer.columns, rng.randint(1, layer.columns)]),
                rng.choice([layer.group_inputs, rng.randint(1, layer.group_inputs)]),
                rng.choice([layer.group_outputs, rng.randint(1, layer.group_outputs)]),
            ),
            rng.choice(["maps_stationary", "weights_stationary"])
            if layer.work == "convolution"
            else "maps_stationary",
            rng.choice(["rows", "out_channels"]),
            rng.choice(["rows", "out_channels"]) if sharing > 1 else None,
        )
        if misfit(layer, mapping, sharing) is None and _fits(layer, mapping, on, sharing):
            return mapping


def network_of(layer: TraceLayer) -> TraceNetwork:
    """The network that is ``layer`` alone; what it adds is an input too."""
    views = layer.read
    tensors = [
        (view.tensor, view.offset + view.height * view.width * view.pitch) for view in (*views, layer.output)
    ]
    return TraceNetwork(
        "alone",
        (layer,),
        tuple(tensors),
        tuple((view.tensor, view) for view in views),
        (("y", layer.output),),
    )


def random_data(rng: random.Random, layer: TraceLayer) -> LayerData:
    """Constants whose results are neither all 0 nor all saturated."""
    numbers = np.random.default_rng(rng.getrandbits(32))
    table = random_table(numbers) if layer.table else np.zeros(0, np.int16)
    if layer.work == "max":
        return LayerData(np.zeros(0, np.int16), np.zeros(0, np.int16), table)
    if layer.gate is not None:
        return LayerData(np.zeros(0, np.int16), np.zeros(layer.filters, np.int16), table)
    if layer.work == "convolution":
        shape: tuple[int, ...] = (layer.filters, *layer.kernel, layer.group_inputs)
    else:
        shape = (window_classes(layer).count, *layer.kernel, layer.output.channels)
    kernel = numbers.integers(-200, 200, shape).astype(np.int16)
    return LayerData(kernel, numbers.integers(-3000, 3000, layer.filters).astype(np.int16), table)


def random_images(rng: random.Random, network: TraceNetwork) -> dict[str, Words]:
    """Words for every input."""
    numbers = np.random.default_rng(rng.getrandbits(32))
    return {
        name: numbers.integers(-900, 900, (view.height, view.width, view.channels)).astype(np.int16)
        for name, view in network.inputs
    }


def random_chain(rng: random.Random) -> TraceNetwork:
    """Two to four small layers one after another, many of them pointwise, from tensor ``t0`` on."""
    size, channels = (rng.randint(1, 9), rng.randint(1, 9)), rng.choice([3, 16, 20, 64, 70])
    view = TensorView("t0", *size, channels, channels)
    views, layers = [view], list[TraceLayer]()
    for number in range(1, rng.randint(3, 5)):
        work = rng.choice(["convolution", "convolution", "lane", "max"])
        pointwise = rng.random() < 0.6 or min(view.height, view.width) < 3
        kernel, pad = ((1, 1), 0) if pointwise else ((3, 3), 1)
        stride = (1, 1) if pointwise else rng.choice([(1, 1), (2, 2)])
        if work == "convolution" and pointwise and rng.random() < 0.2:
            view = replace(view, height=view.height * view.width, width=1)
        given = (view.height, view.width)
        made = [(given[axis] + 2 * pad - kernel[axis]) // stride[axis] + 1 for axis in range(2)]
        ends = [(made[axis] - 1) * stride[axis] + kernel[axis] - given[axis] - pad for axis in range(2)]
        channels = rng.choice([4, 16, 24, 40, 64]) if work == "convolution" else view.channels
        output = TensorView(f"t{number}", made[0], made[1], channels, channels)
        layers.append(
            TraceLayer(
                f"layer{number}",
                f"n{number}",
                "Op",
                work,  # type: ignore[arg-type]
                view,
                output,
                kernel=kernel,
                stride=stride,
                pads=((pad, max(0, ends[0])), (pad, max(0, ends[1]))),
                relu=rng.random() < 0.5,
            )
        )
        view = output
        views.append(view)
    tensors = tuple((view.tensor, view.height * view.width * view.pitch) for view in views)
    return TraceNetwork("chain", tuple(layers), tensors, (("t0", layers[0].input),), ((view.tensor, view),))


def random_partition(
    rng: random.Random, network: TraceNetwork, on: SnowflakeMachine, configuration: Configuration
) -> Partition:
    """Mappings of a chain that favour maps that stay in Buf, and let stay what can."""
    sharing, split = configuration.sharing, rng.choice(["rows", "out_channels"])
    mappings = [random_mapping(rng, layer, on, sharing) for layer in network.traced]
    for place, layer in enumerate(network.traced):
        whole = replace(
            mappings[place],
            unit_split=split,  # type: ignore[arg-type]
            cluster_split=split if sharing > 1 else None,  # type: ignore[arg-type]
            tile=Tile(layer.rows, layer.columns, layer.group_inputs, layer.group_outputs),
        )
        if rng.random() < 0.8 and _fits(layer, whole, on, sharing):
            mappings[place] = whole
    for place, link in enumerate(linked(network)[:-1]):
        first, second = network.traced[place : place + 2]
        before, after = mappings[place : place + 2]
        if link and obstacle(first, before, second, after, sharing) is None:
            mappings[place] = replace(before, output_resident=True)
            mappings[place + 1] = replace(after, input_resident=True)
    return Partition(tuple(mappings))


def _fits(layer: TraceLayer, mapping: LayerMapping, on: SnowflakeMachine, sharing: int) -> bool:
    plans = [plan_layer(layer, mapping, on, sharing, cluster) for cluster in range(sharing)]
    return all(plan.unit_words <= on.unit_words and plan.vmac_words <= on.vmac_words for plan in plans)
