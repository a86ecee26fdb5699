"""How many bits of each map's words are the fraction.

Words of 16 bits are Q8.8, as on Snowflake. Words of 8 have as many bits as the largest number that onnxruntime finds
for them leaves; maps that meet in one operand, and what a maximum hands on, have the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mapper.models.pe_allocation.number.origin import FRAME, Origin
from mapper.models.pe_allocation.number.rule import LayerRule
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.workloads.network.network_layer import LayerNetwork

FIXED = {16: 8}
"""Bits of the fraction by those of the word, where they are the same for all."""
MOST_FRACTION = 24

Node = tuple[str, int, int]


def fraction(largest: float, bits: int) -> int:
    """The most bits of the fraction with which ``largest`` is not saturated; of Q8.8 its 8."""
    return FIXED[bits] if bits in FIXED else room(largest, bits)


def room(largest: float, bits: int) -> int:
    """The most bits of the fraction with which a word of so many bits holds ``largest``."""
    if not 0 < largest < math.inf:
        return bits - 1
    found = math.floor(math.log2(((1 << (bits - 1)) - 0.5) / largest))
    return max(-MOST_FRACTION, min(MOST_FRACTION, found))


def fractions(
    network: LayerNetwork,
    streams: StreamNetwork,
    rules: Sequence[LayerRule],
    origins: Sequence[Sequence[Origin]],
    largest: Mapping[str, float],
    bits: int,
) -> tuple[tuple[tuple[int, ...], int], ...]:
    """For each layer the fractions of its operands and of what it makes; ``largest`` by tensor."""
    leader: dict[Node, Node] = {}

    def find(node: Node) -> Node:
        while leader.setdefault(node, node) != node:
            node = leader[node]
        return node

    least: dict[Node, int] = {}
    for at, stream in enumerate(streams.layers):
        layer = network.layer(stream.name)
        made: Node = ("made", at, 0)
        least[made] = fraction(largest[layer.output], bits)
        for place, (one, origin) in enumerate(zip(layer.inputs, origins[at], strict=True)):
            read: Node = ("read", at, place)
            least[read] = fraction(largest[one.tensor], bits)
            if origin.plain:
                for feed in set(origin.layers) - {FRAME}:
                    leader[find(read)] = find(("made", feed, 0))
        plain = not rules[at].scales and not rules[at].tabled
        if rules[at].rule in ("max", "pass") and plain:
            leader[find(made)] = find(("read", at, 0))
    groups: dict[Node, int] = {}
    for node, bound in least.items():
        groups[find(node)] = min(groups.get(find(node), bound), bound)
    return tuple(
        (
            tuple(groups[find(("read", at, place))] for place in range(len(origins[at]))),
            groups[find(("made", at, 0))],
        )
        for at in range(len(streams.layers))
    )
