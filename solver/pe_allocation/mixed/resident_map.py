"""Which maps between runs stay in the buffers: the least traffic for given runs and words.

At each boundary between two runs the maps that cross it stay or go; staying saves moving them off the chip and, for
every later run that reads them, back again. They take room from the run that makes them to the last that reads them.
With one binary per boundary this is a knapsack with one limit per run, searched depth first with the savings that are
left as a bound; after ``NODES`` steps the best so far is taken.
"""

from __future__ import annotations

from collections.abc import Sequence

from mapper.models.pe_allocation.storage import output_words
from mapper.models.pe_allocation.stream.layer import StreamNetwork

NODES = 20_000


def kept_maps(network: StreamNetwork, runs: Sequence[range], room: Sequence[int] | None) -> tuple[bool, ...]:
    """For each run but the last whether the maps that it leaves to later ones stay on the chip, given the words that
    each run has left (None: enough)."""
    if room is None:
        return (True,) * (len(runs) - 1)
    saved = [_saved(network, runs, maker) for maker in range(len(runs) - 1)]
    held = [[_held(network, runs, maker, at) for at in range(len(runs))] for maker in range(len(runs) - 1)]
    left = [sum(saved[maker:]) for maker in range(len(runs))]
    best: tuple[int, tuple[bool, ...]] = (-1, ())
    waiting: list[tuple[tuple[bool, ...], int, tuple[int, ...]]] = [((), 0, tuple(room))]
    for _ in range(NODES):
        if not waiting:
            break
        stays, gained, free = waiting.pop()
        if gained + left[len(stays)] <= best[0]:
            continue
        if len(stays) == len(runs) - 1:
            best = (gained, stays)
            continue
        maker = len(stays)
        waiting.append(((*stays, False), gained, free))
        after = tuple(words - taken for words, taken in zip(free, held[maker], strict=True))
        if min(after) >= 0:
            waiting.append(((*stays, True), gained + saved[maker], after))
    return best[1] or (False,) * (len(runs) - 1)


def _crossing(network: StreamNetwork, runs: Sequence[range], maker: int) -> list[int]:
    return [at for at in runs[maker] if any(reader >= runs[maker].stop for reader in network.readers[at])]


def _saved(network: StreamNetwork, runs: Sequence[range], maker: int) -> int:
    """Words that need not leave the chip, nor come back for each run that reads them."""
    words = 0
    for at in _crossing(network, runs, maker):
        reading = sum(any(reader in run for reader in network.readers[at]) for run in runs[maker + 1 :])
        words += (1 + reading) * output_words(network.layers[at])
    return words


def _held(network: StreamNetwork, runs: Sequence[range], maker: int, at: int) -> int:
    """Words of the maps of run ``maker`` in the buffers while run ``at`` works, if they stay."""
    if at < maker:
        return 0
    return sum(
        output_words(network.layers[layer])
        for layer in _crossing(network, runs, maker)
        if max(network.readers[layer]) >= runs[at].start
    )
