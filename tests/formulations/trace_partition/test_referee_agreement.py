"""The referee counts words as the plans of steps do, though neither knows the other."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from mapper.formulations.trace_partition.referee.buffer_words import unit_words, vmac_words
from mapper.formulations.trace_partition.referee.resident_map import keeps_input, keeps_output, unlike
from mapper.models.trace_partition.lowering.layer import TensorView, TraceLayer, Work
from mapper.models.trace_partition.mapping import LayerMapping, Split, Tile
from mapper.models.trace_partition.residency import obstacle
from mapper.models.trace_partition.steps.plan import plan_layer
from mapper.models.trace_partition.tile.share import misfit
from tests.arch.snowflake_machine import machine

MACHINE = machine(4)


def outputs(size: int, kernel: int, stride: int, dilation: int, pads: tuple[int, int]) -> int:
    return (size + sum(pads) - (kernel - 1) * dilation - 1) // stride + 1


@st.composite
def layers(draw: DrawFn) -> TraceLayer:
    """Layers of every work, with every feature that changes what they take of the buffers."""
    work: Work = draw(st.sampled_from(["convolution", "convolution", "lane", "max"]))
    convolution = work == "convolution"
    groups = draw(st.sampled_from([1, 1, 2, 3])) if convolution else 1
    inputs = groups * draw(st.integers(1, 24))
    channels = groups * draw(st.integers(1, 40)) if convolution else inputs
    sizes, kernel, stride, dilation, upsample, pads, made = [], [], [], [], [], [], []
    for _ in range(2):
        size, k, s = draw(st.integers(1, 14)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
        d = draw(st.integers(1, 2))
        up = draw(st.sampled_from([1, 1, 1, 2])) if convolution else 1
        span = (k - 1) * d + 1
        ends = (draw(st.integers(0, max(0, span - 1))), draw(st.integers(0, max(0, span - 1))))
        spread = (size - 1) * up + 1
        assume(spread + sum(ends) >= span)
        sizes.append(size)
        kernel.append(k)
        stride.append(s)
        dilation.append(d)
        upsample.append(up)
        pads.append(ends)
        made.append(outputs(spread, k, s, d, ends))
    mfm = convolution and groups == 1 and draw(st.booleans())
    output = TensorView("out", made[0], made[1], channels, channels)
    return TraceLayer(
        "layer",
        "layer",
        "Conv",
        work,
        TensorView("in", sizes[0], sizes[1], inputs, inputs),
        output,
        output if convolution and not mfm and draw(st.booleans()) else None,
        (kernel[0], kernel[1]),
        (stride[0], stride[1]),
        (dilation[0], dilation[1]),
        (upsample[0], upsample[1]),
        (pads[0], pads[1]),
        groups,
        mfm=mfm,
        average=draw(st.sampled_from([None, "all", "inside"])) if work == "lane" else None,
    )


@st.composite
def followers(draw: DrawFn, first: TraceLayer) -> TraceLayer:
    """Layers that read what ``first`` makes: pointwise products, or work channel by channel with a window."""
    view = first.output
    pixels = view.height * view.width
    if draw(st.booleans()):
        as_column = draw(st.booleans())
        read = replace(view, height=pixels, width=1) if as_column else view
        channels = draw(st.integers(1, 40))
        made = TensorView("next", read.height, read.width, channels, channels)
        return TraceLayer("second", "second", "Conv", "convolution", read, made)
    size = draw(st.integers(1, min(3, view.height, view.width)))
    made = TensorView("next", view.height - size + 1, view.width - size + 1, view.channels, view.channels)
    work: Work = draw(st.sampled_from(["lane", "max"]))
    return TraceLayer("second", "second", "Pool", work, view, made, kernel=(size, size))


@st.composite
def mappings(draw: DrawFn, layer: TraceLayer, sharing: int) -> LayerMapping:
    """Mappings of ``layer`` with tiles that are none too large; not all of them are allowed."""
    sizes = (layer.rows, layer.columns, layer.group_inputs, layer.group_outputs)
    tile = Tile(*(draw(st.one_of(st.just(size), st.integers(1, size))) for size in sizes))
    split: st.SearchStrategy[Split] = st.sampled_from(["rows", "out_channels"])
    return LayerMapping(
        draw(st.sampled_from(["coop", "indp"])) if layer.work == "convolution" else "indp",
        tile,
        draw(st.sampled_from(["maps_stationary", "weights_stationary"])),
        draw(split),
        None if sharing == 1 else draw(split),
        draw(st.booleans()),
        draw(st.booleans()),
    )


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.data())
def test_words_are_those_of_the_plan(data: st.DataObject) -> None:
    layer, sharing = data.draw(layers()), data.draw(st.sampled_from([1, 1, 2, 4]))
    mapping = data.draw(mappings(layer, sharing))
    cluster = data.draw(st.integers(0, sharing - 1))
    try:
        plan = plan_layer(layer, mapping, MACHINE, sharing, cluster)
    except ValueError:
        assume(False)
    assert unit_words(layer, mapping, sharing, cluster) == plan.unit_words
    assert vmac_words(layer, mapping, sharing, cluster) == plan.vmac_words


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.data())
def test_maps_stay_where_the_model_says_so(data: st.DataObject) -> None:
    first = data.draw(layers())
    second = data.draw(followers(first))
    sharing = data.draw(st.sampled_from([1, 1, 2, 4]))
    before, after = data.draw(mappings(first, sharing)), data.draw(mappings(second, sharing))
    if data.draw(st.booleans()):
        after = replace(after, unit_split=before.unit_split, cluster_split=before.cluster_split)
    before = replace(before, input_resident=False, output_resident=True)
    after = replace(after, input_resident=True, output_resident=False)
    assume(misfit(first, before, sharing) is None and misfit(second, after, sharing) is None)
    alone = keeps_output(first, before, sharing) or keeps_input(second, after, sharing)
    stays = alone is None and unlike(first, before, second, after, sharing) == 0
    assert stays == (obstacle(first, before, second, after, sharing) is None)
