"""An order of small width in which the vertices of a graph are eliminated.

Vertices of degree up to 3 go first where a rule says that nothing is lost by it: two neighbours are joined (triangle),
another vertex has the same three neighbours (buddy), or three vertices of degree 3 stand around a fourth (cube); by
Arnborg and Proskurowski these rules take every graph of treewidth 3 apart at width 3. Where none applies, of the
vertices of least degree the one goes that joins the fewest new pairs. The width is then not always the least.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.models.compiled import compiled
from mapper.solver.pbqp.reduction.cube import cube, neighbours
from mapper.solver.pbqp.reduction.pair_table import grown, joined, pair_key, slot

Array = NDArray[Any]
SEEN_AT_ONCE = 48
"""Vertices of least degree of which the one with the fewest new pairs is taken."""
MOST_DEGREE = 62
"""Tables over more members hold more entries than memory has; every vertex has two choices at least."""


def _small_width_order(
    vertices: int, ends: Array, choices: Array, most_entries: float
) -> tuple[Array, Array, Array]:
    """Vertices in the order in which they go, and their fronts as starts and members. The order ends early where a
    table of more than ``most_entries`` would be made.

    In one function because nearly every part adds to one of fourteen arrays that are replaced by longer ones when they
    are full: parts would take and return all of them with their counts."""
    edges = len(ends)
    room = 4 * edges + 64
    to = np.empty(room, np.int64)
    following = np.empty(room, np.int64)
    first = np.full(vertices, -1, np.int64)
    degree = np.zeros(vertices, np.int64)
    slots = 64
    while slots < 4 * edges + 4 * vertices:
        slots *= 2
    # Pairs that are joined, with nothing beside them; and who waits for a pair to be joined.
    pairs = np.full(slots, -1, np.int64)
    nothing = np.zeros(slots, np.int64)
    joined_pairs = 0
    waits = np.full(slots, -1, np.int64)
    waits_first = np.full(slots, -1, np.int64)
    waiting_pairs = 0
    triples = np.full(slots, -1, np.int64)
    triples_last = np.full(slots, -1, np.int64)
    known_triples = 0
    wait_room = 256
    waiter = np.empty(wait_room, np.int64)
    wait_next = np.empty(wait_room, np.int64)
    wait_count = 0
    used = 0
    for edge in range(edges):
        u, v = ends[edge, 0], ends[edge, 1]
        key = pair_key(vertices, u, v)
        at = slot(pairs, key)
        if pairs[at] == key:
            continue
        pairs[at] = key
        joined_pairs += 1
        for one, other in ((u, v), (v, u)):
            to[used] = other
            following[used] = first[one]
            first[one] = used
            degree[one] += 1
            used += 1
    gone = np.zeros(vertices, np.bool_)
    # Vertices to look at, and vertices by degree where no rule applies; entries of both may be out of date.
    todo = np.empty(vertices, np.int64)
    is_todo = np.zeros(vertices, np.bool_)
    todo_count = 0
    for at in range(vertices - 1, -1, -1):
        if degree[at] <= 3:
            todo[todo_count] = at
            is_todo[at] = True
            todo_count += 1
    bucket = np.full(vertices + 1, -1, np.int64)
    bucket_room = 2 * vertices + 64
    bucket_at = np.empty(bucket_room, np.int64)
    bucket_next = np.empty(bucket_room, np.int64)
    bucket_count = 0
    for at in range(vertices - 1, -1, -1):
        bucket_at[bucket_count] = at
        bucket_next[bucket_count] = bucket[degree[at]]
        bucket[degree[at]] = bucket_count
        bucket_count += 1
    order = np.empty(vertices, np.int64)
    start = np.zeros(vertices + 1, np.int64)
    front = np.empty(4 * vertices + 64, np.int64)
    near = np.empty(vertices + 1, np.int64)
    other_near = np.empty(vertices + 1, np.int64)
    corner = np.empty((3, 2), np.int64)
    seen = np.empty(SEEN_AT_ONCE, np.int64)
    count = 0
    while count < vertices:
        chosen = -1
        while todo_count > 0 and chosen == -1:
            todo_count -= 1
            at = todo[todo_count]
            is_todo[at] = False
            if gone[at] or degree[at] > 3:
                continue
            if degree[at] < 3:
                chosen = at
                break
            neighbours(at, first, to, following, gone, near)
            a, b, c = near[0], near[1], near[2]
            if (
                joined(pairs, vertices, a, b)
                or joined(pairs, vertices, a, c)
                or joined(pairs, vertices, b, c)
            ):
                chosen = at
                break
            least = min(a, b, c)
            most = max(a, b, c)
            middle = a + b + c - least - most
            key = (least * vertices + middle) * vertices + most
            place = slot(triples, key)
            if triples[place] == key:
                buddy = triples_last[place]
                if buddy != at and not gone[buddy] and degree[buddy] == 3:
                    same = neighbours(buddy, first, to, following, gone, other_near)
                    for i in range(3):
                        same += other_near[i] == a or other_near[i] == b or other_near[i] == c
                    if same == 6:
                        chosen = at
                        break
            else:
                triples[place] = key
                known_triples += 1
            triples_last[place] = at
            if 2 * known_triples > len(triples):
                triples, triples_last = grown(triples, triples_last)
            chosen = cube(at, degree, first, to, following, gone, near, other_near, corner)
            if chosen != -1:
                if chosen != at:
                    # The one looked at is not the one that goes: it is looked at again.
                    todo[todo_count] = at
                    is_todo[at] = True
                    todo_count += 1
                break
            if wait_count + 3 > wait_room:
                wait_room *= 2
                waiter = np.append(waiter, waiter)
                wait_next = np.append(wait_next, wait_next)
            for one, other in ((a, b), (a, c), (b, c)):
                key = pair_key(vertices, one, other)
                place = slot(waits, key)
                if waits[place] != key:
                    waits[place] = key
                    waits_first[place] = -1
                    waiting_pairs += 1
                waiter[wait_count] = at
                wait_next[wait_count] = waits_first[place]
                waits_first[place] = wait_count
                wait_count += 1
                if 2 * waiting_pairs > len(waits):
                    waits, waits_first = grown(waits, waits_first)
        if chosen == -1:
            # No rule applies: of the least degree, the fewest new pairs, the smallest table, the first.
            found = 0
            least = 0
            while least <= vertices and found == 0:
                entry = bucket[least]
                while entry != -1 and found < SEEN_AT_ONCE:
                    at = bucket_at[entry]
                    entry = bucket_next[entry]
                    known = gone[at] or degree[at] != least
                    for i in range(found):
                        known = known or seen[i] == at
                    if not known:
                        seen[found] = at
                        found += 1
                bucket[least] = entry
                if found == 0:
                    least += 1
            if least > MOST_DEGREE:
                break
            best_pairs, best_entries = vertices * vertices, 0.0
            for i in range(found):
                at = seen[i]
                neighbours(at, first, to, following, gone, near)
                new_pairs = 0
                entries = 1.0
                for j in range(least):
                    entries *= choices[near[j]]
                    for k in range(j):
                        new_pairs += not joined(pairs, vertices, near[j], near[k])
                better = new_pairs < best_pairs
                if new_pairs == best_pairs:
                    better = entries < best_entries or (entries == best_entries and at < chosen)
                if better:
                    chosen, best_pairs, best_entries = at, new_pairs, entries
            for i in range(found - 1, -1, -1):
                if bucket_count == bucket_room:
                    bucket_room *= 2
                    bucket_at = np.append(bucket_at, bucket_at)
                    bucket_next = np.append(bucket_next, bucket_next)
                bucket_at[bucket_count] = seen[i]
                bucket_next[bucket_count] = bucket[least]
                bucket[least] = bucket_count
                bucket_count += 1
        size = neighbours(chosen, first, to, following, gone, near)
        entries = 1.0
        for i in range(size):
            entries *= choices[near[i]]
        if entries > most_entries:
            break
        gone[chosen] = True
        order[count] = chosen
        while start[count] + size > len(front):
            front = np.append(front, front)
        for i in range(size):
            front[start[count] + i] = near[i]
        start[count + 1] = start[count] + size
        count += 1
        for i in range(size):
            degree[near[i]] -= 1
        for i in range(size):
            for j in range(i):
                one, other = near[i], near[j]
                key = pair_key(vertices, one, other)
                place = slot(pairs, key)
                if pairs[place] == key:
                    continue
                pairs[place] = key
                joined_pairs += 1
                if 2 * joined_pairs > len(pairs):
                    pairs, nothing = grown(pairs, nothing)
                if used + 2 > room:
                    room *= 2
                    to = np.append(to, to)
                    following = np.append(following, following)
                for tail, head in ((one, other), (other, one)):
                    to[used] = head
                    following[used] = first[tail]
                    first[tail] = used
                    degree[tail] += 1
                    used += 1
                place = slot(waits, key)
                if waits[place] == key:
                    entry = waits_first[place]
                    waits_first[place] = -1
                    while entry != -1:
                        at = waiter[entry]
                        entry = wait_next[entry]
                        if not gone[at] and not is_todo[at]:
                            todo[todo_count] = at
                            is_todo[at] = True
                            todo_count += 1
        for i in range(size):
            at = near[i]
            if degree[at] <= 3 and not is_todo[at]:
                todo[todo_count] = at
                is_todo[at] = True
                todo_count += 1
            if bucket_count == bucket_room:
                bucket_room *= 2
                bucket_at = np.append(bucket_at, bucket_at)
                bucket_next = np.append(bucket_next, bucket_next)
            bucket_at[bucket_count] = at
            bucket_next[bucket_count] = bucket[degree[at]]
            bucket[degree[at]] = bucket_count
            bucket_count += 1
    return order[:count].copy(), start[: count + 1].copy(), front[: start[count]].copy()


small_width_order = compiled(_small_width_order)
