"""What a run of layers requires of the grid: blocks of PEs, the streams between them, and those to the buffers."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property

from mapper.arch.tcpa import TcpaMachine
from mapper.models.pe_allocation.configuration.wiring import outside_streams
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamNetwork

Pair = tuple[int, int]


@dataclass(frozen=True)
class StreamPlan:
    """Blocks in flow order: the layers (positions) that stand on the same PEs, as groups that share a PE do.

    ``sizes``: PEs of each block; ``outside``: its streams from and to the buffers; ``feeds``: streams between two
    blocks, by their numbers, the lower first.
    """

    blocks: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    outside: tuple[int, ...]
    feeds: dict[Pair, int]

    @property
    def outside_streams(self) -> int:
        return sum(self.outside)

    @property
    def pes(self) -> int:
        return sum(self.sizes)

    @cached_property
    def bicliques(self) -> tuple[tuple[Pair, ...], ...]:
        """Pairs of blocks where several blocks all read the same several, as after a concatenation; no pair is in
        two of them."""
        sources: dict[int, set[int]] = defaultdict(set)
        for one, other in self.feeds:
            sources[other].add(one)
        readers: dict[frozenset[int], list[int]] = defaultdict(list)
        for reader, read in sources.items():
            readers[frozenset(read)].append(reader)
        return tuple(
            tuple((source, reader) for source in sorted(read) for reader in those)
            for read, those in readers.items()
            if min(len(read), len(those)) > 1 and not read & set(those)
        )


def stream_plan(network: StreamNetwork, allocation: Allocation, members: range) -> StreamPlan:
    """The blocks of the layers ``members``, which work at once."""
    group_of = {at: group for group in allocation.shared for at in group}
    blocks = tuple(dict.fromkeys(tuple(sorted(group_of.get(at, (at,)))) for at in members))
    number = {at: block for block, together in enumerate(blocks) for at in together}
    feeds: Counter[Pair] = Counter()
    for at in members:
        for feed in network.layers[at].feeds:
            if feed in members and number[feed] != number[at]:
                one, other = sorted((number[feed], number[at]))
                feeds[one, other] += 1
    return StreamPlan(
        blocks,
        tuple(allocation.pes[together[0]] for together in blocks),
        tuple(sum(outside_streams(network, at, members) for at in together) for together in blocks),
        dict(feeds),
    )


def biclique_excess(pairs: tuple[Pair, ...]) -> int:
    """How many of a biclique's pairs cannot be next to each other on a grid with links to four neighbours.

    Connected regions of such a grid that touch make a planar graph, and a planar bipartite graph of n vertices has
    2n - 4 edges at most.
    """
    vertices = len({one for one, _ in pairs}) + len({other for _, other in pairs})
    return max(0, len(pairs) - (2 * vertices - 4))


def overfull(plan: StreamPlan, machine: TcpaMachine) -> int:
    """How many pairs cannot be next to each other because a block has more partners than places around it.

    Of P connected PEs with at most d links each, at least P - 1 links lie within: at most P(d - 2) + 2 lead out. A
    pair of two such blocks may count for both.
    """
    most = max(map(len, machine.neighbours.values()))
    partners = Counter(block for pair in plan.feeds for block in pair)
    excess = {b: partners[b] - (size * (most - 2) + 2) for b, size in enumerate(plan.sizes)}
    total = sum(over for over in excess.values() if over > 0)
    of_both = sum(1 for a, b in plan.feeds if excess[a] > 0 and excess[b] > 0)
    return total - min(total // 2, of_both)


def least_wiring(plan: StreamPlan, machine: TcpaMachine) -> int:
    """Wiring that every placement of ``plan`` has, by argument: a stream between blocks takes a link at least, pairs
    that cannot touch one more, and blocks beyond the number of border PEs are a link away from the buffers."""
    apart = overfull(plan, machine)
    if set(machine.links) == {"mesh"}:
        apart = max(apart, sum(map(biclique_excess, plan.bicliques)))
    inner = max(0, len(plan.blocks) - len(machine.border_pes))
    return sum(plan.feeds.values()) + apart + sum(sorted(plan.outside)[:inner])


def has_room(plan: StreamPlan, machine: TcpaMachine) -> bool:
    """Whether the PEs and the address generators are enough; a placement exists then: the blocks one after another
    along a path through all PEs."""
    generators = machine.border.address_generators
    return plan.pes <= machine.pe_count and (generators is None or plan.outside_streams <= generators)
