"""What the model says of every step of the generated overlay, by cause: the array, what movers add to it with their
transforms, and waits for kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.models.algorithm_selection.running_cost import one_after_another, piece_passes, running_time_at
from mapper.models.algorithm_selection.stream_time import one_array, pool_time
from mapper.models.algorithm_selection.timing import FETCHED, HAND_OVER, product_fetch


@dataclass(frozen=True)
class Causes:
    """Cycles of a step: those of products, with filling and draining; those that loads, transforms and stores add, from
    the end of the step before on, so that they are fewer where the step begins before it, and may be below 0; and those
    in which only kernels are read."""

    array: int = 0
    moves: int = 0
    waits: int = 0

    @property
    def cycles(self) -> int:
        return self.array + self.moves + self.waits


def causes(network: OverlayNetwork, selection: Selection) -> dict[str, Causes]:
    """By layer of the array, and by pool and addition."""
    engines = network.machine.engines
    if engines is None:
        return {}
    found: dict[str, Causes] = {}
    late: dict[str, int] = {}
    timed = one_after_another(network, selection)
    for at, (name, (now, waits)) in enumerate(zip(network.names, timed, strict=True)):
        array, total = int((now.own.products + now.own.array)[0]), int(now.own.total[0])
        waiting_pool = _waiting_pool(network, at)
        if waiting_pool is not None:
            late[waiting_pool] = waits + int(now.beside[0])
            waits = -int(now.beside[0])
        found[name] = Causes(array, total - array + min(0, waits), max(0, waits))
    for pool in network.running.pools if engines.pools else ():
        taken = int(pool_time(pool, one_array(selection.array), engines)[0])
        found[pool.name] = Causes(moves=taken, waits=late.get(pool.name, 0))
    for at, held in _held(network, selection).items():
        beside = network.running.pools[dict(network.running.between)[at]].name
        for name, more in ((network.names[at], -held), (beside, held)):
            found[name] = replace(found[name], moves=found[name].moves + more)
    return found


def _waiting_pool(network: OverlayNetwork, at: int) -> str | None:
    """The max pool before a layer that waits until that layer's kernels are in, if there is one."""
    running = network.running
    if at not in running.ahead or network.machine.engines is None or not network.machine.engines.pools:
        return None
    pools = (running.pools[pool] for layer, pool in running.between if layer == at)
    return next((pool.name for pool in pools if not pool.left), None)


def _held(network: OverlayNetwork, selection: Selection) -> dict[int, int]:
    """By layers that begin beside a pool that reads: for how many cycles the pool is held up, as maps that are loaded
    are read first. The layer ends so many cycles later after the pool's beginning than after its end. Where kernels are
    loaded ahead after its first product, they wait for the pool, and the layer's second load for them; a small pool has
    asked for all of its pixels by then."""
    engines, found = network.machine.engines, {}
    assert engines is not None
    for at in network.running.beside:
        now = running_time_at(network, at, selection)
        shared, begin, free = (int(one[0]) for one in (now.shared, now.own.begin, now.own.free))
        reads = begin - free
        pool = network.running.pools[dict(network.running.between)[at]]
        asks = int((pool.last * one_array(selection.array).lines(pool.channels))[0])
        if at + 1 in network.running.ahead or asks <= 2 * FETCHED + HAND_OVER + engines.dram_latency:
            choice = selection.choices[at]
            calls = piece_passes(network, at, choice.algorithm, choice.dataflow, choice.parts)[0][3]
            reads = min(reads, int((now.own.load - now.own.unread)[0]) + product_fetch(calls))
        found[at] = reads if shared else 0
    return found
