"""Why a network has no partition, in a sentence: a layer whose smallest tile fits no buffer, or pins that leave
nothing.

Each reason is proven: of all tiles that are whole in the same dimensions the one with a single element in the others
takes the fewest words of both buffers, as regions only grow with each size and the number of buffers depends on which
dimensions are whole. So a layer fits if one of these tiles does, in some mode, split and residency that its pins leave.
Words are those of the model's own steps: the referee, which counts them independently, contradicts a miscount.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar, get_args

from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.models.trace_partition.lowering.layer import TraceLayer
from mapper.models.trace_partition.mapping import LayerMapping, Mode, Split, Tile
from mapper.models.trace_partition.residency import linked
from mapper.models.trace_partition.steps.plan import LayerPlan
from mapper.models.trace_partition.tile.layer_tiling import layer_tiling, resident_misfit
from mapper.models.trace_partition.tile.share import misfit, share_of

Choice = TypeVar("Choice")


@dataclass(frozen=True)
class _Need:
    """What the first cluster, which has the largest part, needs for a mapping: words of Buf and of WBuf."""

    mapping: LayerMapping
    unit_words: int
    vmac_words: int


def why_infeasible(problem: PartitionProblem) -> str | None:
    """The first reason why no partition exists, or None if no argument here says so."""
    for position, layer in enumerate(problem.network.traced):
        said = _contradiction(problem, position) or _too_large(problem, position, layer)
        if said is not None:
            return f"{layer.name}: {said}"
    return None


def _contradiction(problem: PartitionProblem, position: int) -> str | None:
    """Why pins cannot be kept that say what stays in Buf."""
    layers = problem.network.traced
    pin = problem.pin(layers[position].name)
    if pin.output_resident:
        if not linked(problem.network)[position]:
            return "its output is not for the next layer alone, so it cannot stay in Buf as pinned"
        if problem.pin(layers[position + 1].name).input_resident is False:
            return f"its output is pinned to stay in Buf, but not as the input of {layers[position + 1].name}"
    if pin.input_resident:
        if position == 0 or not linked(problem.network)[position - 1]:
            return "nothing of the layer before can stay in Buf for it, as pinned"
        if problem.pin(layers[position - 1].name).output_resident is False:
            return f"its input is pinned to stay in Buf, but not as the output of {layers[position - 1].name}"
    return None


def _too_large(problem: PartitionProblem, position: int, layer: TraceLayer) -> str | None:
    machine = problem.machine
    needs = list(_least(problem, position, layer))
    if not needs:
        return "its pins leave no tile in any mode and split that it may have"
    room, weights = machine.unit_words, machine.vmac_words
    if any(need.unit_words <= room and need.vmac_words <= weights for need in needs):
        return None
    smallest = f"the smallest tile{' that its pins leave' if layer.name in problem.pins else ''}"
    least = min(needs, key=lambda need: need.unit_words)
    if least.unit_words > room:
        lacking = f"{least.unit_words} words of a unit's maps buffer, which has {room}"
        return f"{smallest} ({_said(least.mapping)}) needs {lacking}, and no mode, split or residency needs fewer"
    # Where each buffer alone would do, what fits the maps buffer is what is left.
    least = min((need for need in needs if need.unit_words <= room), key=lambda need: need.vmac_words)
    lacking = f"{least.vmac_words} words of a vMAC's weight buffer, which has {weights}"
    return f"{smallest} ({_said(least.mapping)}) needs {lacking}, and no mode, split or residency needs fewer"


def _said(mapping: LayerMapping) -> str:
    tile = mapping.tile
    sizes = f"{tile.rows} x {tile.columns} outputs of {tile.out_channels} channels from {tile.in_channels}"
    return f"{sizes}, {mapping.mode}, units share {mapping.unit_split}"


def _least(problem: PartitionProblem, position: int, layer: TraceLayer) -> Iterator[_Need]:
    """The words of the smallest tile for every choice of whole dimensions, mode, splits and residency."""
    pin, sharing = problem.pin(layer.name), problem.configuration.sharing
    modes: tuple[Mode, ...] = get_args(Mode) if layer.work == "convolution" else ("indp",)
    splits: tuple[Split, ...] = get_args(Split)
    links = linked(problem.network)
    before, after = position > 0 and links[position - 1], links[position]
    choices = product(
        _left(modes, pin.mode),
        _left(splits, pin.unit_split),
        _left(splits if sharing > 1 else (None,), pin.cluster_split),
        _left((False, True) if before else (False,), pin.input_resident),
        _left((False, True) if after else (False,), pin.output_resident),
    )
    order = pin.order or "maps_stationary"
    for mode, unit_split, cluster_split, reads, makes in choices:
        bare = LayerMapping(mode, Tile(1, 1, 1, 1), order, unit_split, cluster_split, reads, makes)
        if misfit(layer, bare, sharing) is not None:
            continue
        share = share_of(layer, bare, sharing, 0)
        wholes = (share.rows, layer.columns, layer.group_inputs, share.channels)
        pins = (pin.rows, pin.columns, pin.in_channels, pin.out_channels)
        extents = (layer.rows, layer.columns, layer.group_inputs, layer.group_outputs)
        sizes = [
            ((given,) if given <= extent else ()) if given is not None else sorted({1, whole})
            for given, whole, extent in zip(pins, wholes, extents, strict=True)
        ]
        for tile in product(*sizes):
            mapping = replace(bare, tile=Tile(*tile))
            tiling = layer_tiling(layer, mapping, sharing, 0)
            if resident_misfit(tiling) is None:
                plan = LayerPlan(tiling, problem.machine, None, None)
                yield _Need(mapping, plan.unit_words, plan.vmac_words)


def _left(choices: tuple[Choice, ...], pin: object) -> tuple[Choice, ...]:
    return choices if pin is None else tuple(choice for choice in choices if choice == pin)
