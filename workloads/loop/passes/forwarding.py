"""Loads that another access makes needless: a store of the same word, now or iterations ago, or another load."""

from __future__ import annotations

from mapper.workloads.loop.affine import split
from mapper.workloads.loop.body import Value
from mapper.workloads.loop.lowered import LoweredLoop
from mapper.workloads.loop.passes.memory import History, iterations_between, never_meet, stores

MOST_ITERATIONS = 8
"""Values are carried over so many iterations at the most: each takes registers and moves."""


def forward(loop: LoweredLoop) -> int:
    """Loads take what a store put into their word, in this iteration or one before. Returns how many loads."""
    body = loop.body
    history = History(loop)
    taken: dict[int, Value] = {}
    for index, node in enumerate(list(body.nodes)):
        if node.opcode != "load" or node.entry or node.replaced:
            continue
        found = _writer(loop, index)
        if found is not None:
            writer, distance = found
            taken[index] = history.before(writer, body.nodes[writer].operands[1], distance)
    body.replace_uses(taken)
    return len(taken)


def _writer(loop: LoweredLoop, load: int) -> tuple[int, int] | None:
    """The store that was the last to write the word of ``load``, and how many iterations ago."""
    node = loop.body.nodes[load]
    writers = stores(loop, node.array or "")
    if not writers or loop.arrays[node.array or ""].type.narrow:
        return None
    found: list[tuple[int, int]] = []
    for writer in writers:
        form = loop.body.nodes[writer].index_form
        if never_meet(loop, form, node.index_form):
            continue
        distance = iterations_between(form, node.index_form)
        if distance is None:
            return None
        if distance > 0 or (distance == 0 and writer < load):
            found.append((distance, -writer))
    if not found:
        return None
    distance, position = min(found)
    unconditional = len(loop.body.nodes[-position].operands) == 2
    within = distance <= MOST_ITERATIONS and (loop.trip_count is None or distance < loop.trip_count)
    return (-position, distance) if unconditional and within else None


def share(loop: LoweredLoop) -> int:
    """Loads take what another load read from their word iterations ago, where no store comes in between. Returns how
    many loads."""
    body = loop.body
    groups: dict[tuple[str, int], list[int]] = {}
    for index, node in enumerate(body.nodes):
        if node.opcode != "load" or node.entry or node.replaced or node.index_form is None:
            continue
        parts = split(node.index_form)
        if parts is not None and parts[0] != 0 and not _written_before(loop, index):
            groups.setdefault((node.array or "", parts[0]), []).append(index)
    history = History(loop)
    taken: dict[int, Value] = {}
    for loads in groups.values():
        for load in loads:
            ahead = [
                (distance, other) for other in loads if (distance := _ahead(loop, other, load)) is not None
            ]
            if ahead:
                distance, leader = max(ahead)
                taken[load] = history.before(leader, Value(body.nodes[leader].kind, leader), distance)
    body.replace_uses(taken)
    return len(taken)


def _ahead(loop: LoweredLoop, leader: int, load: int) -> int | None:
    """How many iterations before ``load`` the load ``leader`` reads its word in every iteration, None if it doesn't."""
    nodes = loop.body.nodes
    if len(nodes[leader].operands) > 1:
        return None
    distance = iterations_between(nodes[leader].index_form, nodes[load].index_form)
    within = distance is not None and 0 < distance <= MOST_ITERATIONS
    return distance if within and (loop.trip_count is None or (distance or 0) < loop.trip_count) else None


def _written_before(loop: LoweredLoop, load: int) -> bool:
    """Whether a store may write the word of ``load`` in the same iteration or an earlier one."""
    node = loop.body.nodes[load]
    writers = stores(loop, node.array or "")
    if writers is None:
        return True
    for writer in writers:
        form = loop.body.nodes[writer].index_form
        if never_meet(loop, form, node.index_form):
            continue
        distance = iterations_between(form, node.index_form)
        if distance is None or distance > 0 or (distance == 0 and writer < load):
            return True
    return False
