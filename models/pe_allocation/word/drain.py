"""What unit latencies cost: a position's last results leave the PEs some cycles after its work.

A pixel is there when its position's time is over and its last result has left; the layers that read it start that much
later than the model says, and so do those that read them. The pace is the model's, since a position begins while
results of the one before are still under way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mapper.models.pe_allocation.configuration.program import Configuration
from mapper.models.pe_allocation.word.program import LayerWords


def drains(configuration: Configuration, words: Sequence[LayerWords]) -> tuple[int, ...]:
    """Of each layer the cycles from the end of a position's time, idle cycles included, until its last result can be
    read."""
    return tuple(
        max(0, own.final - 1 - layer.idle) for layer, own in zip(configuration.layers, words, strict=True)
    )


def lags(configuration: Configuration, drain: Sequence[int]) -> tuple[int, ...]:
    """By how many cycles each layer starts later than the model says."""
    found: list[int] = []
    for layer in configuration.layers:
        feeds = [source.feed for source in layer.sources if source.feed is not None]
        found.append(max((found[feed] + drain[feed] for feed in feeds), default=0))
    return tuple(found)


def drained(configuration: Configuration, drain: Sequence[int]) -> Configuration:
    """The configuration with start times that wait for drains. Where layers join, the one that is ready first has made
    a few pixels more by then, which its buffer gets room for."""
    late, layers = lags(configuration, drain), []
    for at, layer in enumerate(configuration.layers):
        sources = []
        for source in layer.sources:
            if source.feed is not None and source.words is not None:
                waits = late[at] - late[source.feed] - drain[source.feed]
                more = -(-waits // configuration.layers[source.feed].cycles) * source.maps
                room = min(source.words + more, max(source.words, source.read.frame))
                write = None if source.write is None else replace(source.write, ring=room)
                source = replace(source, words=room, write=write, read=replace(source.read, ring=room))
            sources.append(source)
        layers.append(replace(layer, start=layer.start + late[at], sources=tuple(sources)))
    return replace(configuration, layers=tuple(layers))
