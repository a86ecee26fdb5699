"""Small layers for the accelerator, drawn at random, with their mappings, data and what they compute."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from mapper.arch.snowflake import TABLE_WORDS
from mapper.models.trace_partition.data.function_table import mapped
from mapper.models.trace_partition.data.quantisation import LayerData
from mapper.models.trace_partition.lowering.layer import TensorView, TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping, Tile
from mapper.models.trace_partition.tile.share import misfit
from mapper.models.trace_partition.tile.window import window_classes

Integers = npt.NDArray[np.int64]
Draw = Any
WORKS: tuple[Literal["convolution", "lane", "max"], ...] = ("convolution", "lane", "max")


def layer_of(
    height: int = 6, width: int = 6, inputs: int = 4, outputs: int = 4, kernel: int = 1, **changes: Any
) -> TraceLayer:
    """A convolution of stride 1 without padding from tensor ``in`` to ``out``."""
    layer = TraceLayer(
        "layer",
        "layer",
        "Conv",
        "convolution",
        TensorView("in", height, width, inputs, inputs),
        TensorView("out", height - kernel + 1, width - kernel + 1, outputs, outputs),
        kernel=(kernel, kernel),
    )
    return replace(layer, **changes)


def whole(layer: TraceLayer, **changes: Any) -> LayerMapping:
    """One tile of everything, in COOP unless the layer goes channel by channel; ``tile`` gives its other sizes."""
    sizes = {
        "rows": layer.rows,
        "columns": layer.columns,
        "in_channels": layer.group_inputs,
        "out_channels": layer.group_outputs,
    } | changes.pop("tile", {})
    mode: Literal["coop", "indp"] = "coop" if layer.work == "convolution" else "indp"
    return replace(LayerMapping(mode, Tile(**sizes), "maps_stationary", "out_channels"), **changes)


@st.composite
def layers(draw: Draw) -> TraceLayer:
    """Layers of every kind of work."""
    work = draw(st.sampled_from(WORKS))
    size = st.integers(1, 9)
    height, width = draw(size), draw(size)
    kernel = (draw(st.integers(1, 4)), draw(st.integers(1, 4)))
    stride = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    dilation = (draw(st.integers(1, 2)), draw(st.integers(1, 2)))
    up = (draw(st.sampled_from((1, 1, 2, 3))), draw(st.sampled_from((1, 1, 2)))) if work != "max" else (1, 1)
    groups = draw(st.sampled_from((1, 1, 2, 4))) if work == "convolution" else 1
    inputs = draw(st.integers(1, 20)) * groups
    outputs = (
        draw(st.integers(1, 40)) * groups if work == "convolution" else draw(st.sampled_from((1, 5, 33, 270)))
    )
    pads, sizes = [], []
    for axis, extent in enumerate((height, width)):
        spread, span = (extent - 1) * up[axis] + 1, (kernel[axis] - 1) * dilation[axis] + 1
        most = span - 1 if work == "max" else span + 1
        if work == "max" and dilation[axis] > 1:
            most = 0
        begin, end = draw(st.integers(0, most)), draw(st.integers(0, most))
        end += max(0, span - spread - begin - end) if work != "max" else 0
        pads.append((begin, end))
        sizes.append((spread + begin + end - span) // stride[axis] + 1 if spread + begin + end >= span else 0)
    if min(sizes) < 1 or (
        work == "max" and not _covered(height, width, kernel, stride, pads, sizes, dilation)
    ):
        return layer_of(kernel=3, pads=((1, 1), (1, 1)), output=TensorView("out", 6, 6, 4, 4))
    mfm = groups == 1 and work == "convolution" and draw(st.booleans())
    residual = work != "max" and not mfm and draw(st.booleans())
    if work != "convolution":
        inputs = outputs

    def view(name: str, rows: int, columns: int, channels: int) -> TensorView:
        extra = draw(st.sampled_from((0, 0, 3)))
        return TensorView(name, rows, columns, channels, channels + extra, draw(st.integers(0, extra)))

    return TraceLayer(
        "layer",
        "layer",
        "Conv",
        work,
        view("in", height, width, inputs),
        view("out", sizes[0], sizes[1], outputs),
        residual=view("more", sizes[0], sizes[1], outputs) if residual else None,
        kernel=kernel,
        stride=stride,
        dilation=dilation,
        upsample=up,
        pads=(pads[0], pads[1]),
        groups=groups,
        relu=draw(st.booleans()),
        mfm=mfm,
        average=draw(st.sampled_from((None, "all", "inside"))) if work == "lane" else None,
        clip=draw(st.sampled_from((None, None, (0, 500), (-400, 100)))),
        table=draw(st.sampled_from((None, None, "function"))),
    )


def _covered(
    height: int,
    width: int,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    pads: list[tuple[int, int]],
    sizes: list[int],
    dilation: tuple[int, int],
) -> bool:
    """Whether every window has a position inside the map."""
    return all(
        any(
            0 <= output * stride[axis] - pads[axis][0] + at * dilation[axis] < extent
            for at in range(kernel[axis])
        )
        for axis, extent in enumerate((height, width))
        for output in range(sizes[axis])
    )


@st.composite
def mappings(draw: Draw, layer: TraceLayer, sharing: int) -> LayerMapping:
    """Mappings of ``layer`` that say something."""
    tile = Tile(
        draw(st.integers(1, layer.rows)),
        draw(st.integers(1, layer.columns)),
        draw(st.integers(1, layer.group_inputs)),
        draw(st.integers(1, layer.group_outputs)),
    )
    splits = ("rows", "out_channels")
    mapping = LayerMapping(
        draw(st.sampled_from(("coop", "indp"))) if layer.work == "convolution" else "indp",
        tile,
        draw(st.sampled_from(("maps_stationary", "weights_stationary"))),
        draw(st.sampled_from(splits)),
        draw(st.sampled_from(splits)) if sharing > 1 else None,
    )
    if misfit(layer, mapping, sharing) is not None:
        mapping = replace(mapping, unit_split="out_channels", cluster_split="rows" if sharing > 1 else None)
    return mapping


def data_of(layer: TraceLayer, seed: int) -> LayerData:
    """Random weights and biases."""
    random = np.random.default_rng(seed)
    table = random_table(random) if layer.table else np.zeros(0, np.int16)
    if layer.work == "max":
        return LayerData(np.zeros(0, np.int16), np.zeros(0, np.int16), table)
    if layer.work == "lane":
        shape = (window_classes(layer).count, *layer.kernel, layer.output.channels)
    else:
        shape = (layer.filters, *layer.kernel, layer.group_inputs)
    return LayerData(
        random.integers(-300, 300, shape).astype(np.int16),
        random.integers(-999, 999, layer.filters).astype(np.int16),
        table,
    )


def random_table(random: np.random.Generator) -> npt.NDArray[np.int16]:
    """A look-up table that is no function that anybody knows."""
    shift, slopes = random.integers(0, 8, 1), random.integers(-300, 300, 2)
    return np.concatenate([shift, slopes, random.integers(-9999, 9999, TABLE_WORDS - 3)]).astype(np.int16)


def memory_of(layer: TraceLayer, seed: int) -> dict[str, Integers]:
    """Tensors of random words."""
    random = np.random.default_rng(seed)
    views = [view for view in (layer.input, layer.output, layer.residual) if view is not None]
    return {view.tensor: random.integers(-900, 900, view.height * view.width * view.pitch) for view in views}


def pixels(view: TensorView, memory: dict[str, Integers]) -> Integers:
    """A view's words as [row][column][channel]."""
    places = (
        np.arange(view.height * view.width)[:, None] * view.pitch + np.arange(view.channels) + view.offset
    )
    words: Integers = memory[view.tensor][places].reshape(view.height, view.width, view.channels)
    return words


def computed(layer: TraceLayer, data: LayerData, memory: dict[str, Integers]) -> Integers:
    """What ``layer`` computes, window by window: [row][column][channel]."""
    maps, classes = pixels(layer.input, memory), window_classes(layer)
    spread = np.zeros((*layer.spread, layer.input.channels), dtype=np.int64)
    spread[:: layer.upsample[0], :: layer.upsample[1]] = maps
    kernel, groups = data.kernel.astype(np.int64), layer.groups
    found = np.zeros((layer.rows, layer.columns, layer.filters), dtype=np.int64)
    for row in range(layer.rows):
        for column in range(layer.columns):
            taps = []
            for down in range(layer.kernel[0]):
                for across in range(layer.kernel[1]):
                    y = row * layer.stride[0] - layer.pads[0][0] + down * layer.dilation[0]
                    x = column * layer.stride[1] - layer.pads[1][0] + across * layer.dilation[1]
                    if 0 <= y < spread.shape[0] and 0 <= x < spread.shape[1]:
                        taps.append((down, across, spread[y, x]))
            if layer.work == "max":
                found[row, column] = np.max([words for *_, words in taps], axis=0)
                continue
            total = data.bias.astype(np.int64) << 8
            for down, across, words in taps:
                if layer.work == "lane":
                    total = total + words * kernel[classes.number(row, column), down, across]
                else:
                    split = kernel[:, down, across].reshape(groups, -1, layer.group_inputs)
                    total = total + np.einsum("goc,gc->go", split, words.reshape(groups, -1)).reshape(-1)
            found[row, column] = total
    if layer.work != "max":
        if layer.residual is not None:
            found += pixels(layer.residual, memory) << 8
        found = np.clip((found + 128) >> 8, -(1 << 15), (1 << 15) - 1)
    if layer.mfm:
        found = np.maximum(found[..., : layer.output.channels], found[..., layer.output.channels :])
    found = np.maximum(found, 0) if layer.relu else found
    found = found if layer.clip is None else np.clip(found, *layer.clip)
    return found if layer.table is None else mapped(found, data.table)
