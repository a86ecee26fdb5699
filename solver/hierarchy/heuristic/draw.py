"""Mappings drawn by chance, and changed by chance: prime factors that move between slots, orders, tensors kept."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from mapper.solver.hierarchy.choice import Choice
from mapper.solver.hierarchy.space import Factors, Space, prime_factors


def draw(space: Space, random: Random) -> Choice | None:
    """A choice in which every prime factor went to any slot that may take it; None where one found no place."""
    problem = space.problem
    factors: dict[str, Factors] = {}
    room = _room(space)
    loops = list(problem.nest.loops)
    for loop in random.sample(loops, len(loops)):
        row = _drawn(space, loop, room, random)
        if row is None:
            return None
        factors[loop] = row
    orders = tuple(tuple(random.sample(loops, len(loops))) for _ in problem.machine.levels)
    keep = []
    for place in range(len(problem.machine.levels)):
        must, may = problem.kept(place)
        keep.append(
            tuple(
                one.name
                for one in problem.nest.operands
                if one.name in must or (one.name in may and random.random() < 0.5)
            )
        )
    return Choice({loop: factors[loop] for loop in loops}, orders, tuple(keep))


def _room(space: Space) -> list[int | None]:
    """Instances that are left at each slot in space; None in time."""
    levels = space.problem.machine.levels
    return [
        None if axis == "temporal" else levels[place].fanout.x if axis == "x" else levels[place].fanout.y
        for place, axis in space.slots
    ]


def _drawn(space: Space, loop: str, room: list[int | None], random: Random) -> Factors | None:
    row = [1] * len(space.slots)
    limits = space.limits[loop]
    primes = list(prime_factors(space.problem.bounds[loop]))
    for slot, (place, axis) in enumerate(space.slots):
        # What is given comes first, in time and along X.
        given = space.problem.exact(place, axis, loop) if axis != "y" else None
        for prime in prime_factors(given or 1):
            if prime not in primes or limits[slot] < row[slot] * prime:
                return None
            primes.remove(prime)
            row[slot] *= prime
    for prime in primes:
        open_slots = [
            slot
            for slot, (place, axis) in enumerate(space.slots)
            if row[slot] * prime <= limits[slot]
            and space.problem.exact(place, axis, loop) is None
            and (room[slot] is None or prime <= (room[slot] or 0))
        ]
        if not open_slots:
            return None
        slot = random.choice(open_slots)
        row[slot] *= prime
        left = room[slot]
        if left is not None:
            room[slot] = left // prime
    return tuple(row) if space.keeps_given(loop, tuple(row)) else None


def changed(choice: Choice, space: Space, random: Random) -> Choice:
    """A neighbour: a prime factor at another slot, two loops of an order exchanged, or a tensor kept or not."""
    problem = space.problem
    kind = random.random()
    if kind < 0.6:
        loop = random.choice(problem.nest.loops)
        row = list(choice.factors[loop])
        from_slots = [slot for slot, trips in enumerate(row) if trips > 1]
        if not from_slots:
            return choice
        source, target = random.choice(from_slots), random.randrange(len(row))
        prime = random.choice(prime_factors(row[source]))
        row[source] //= prime
        row[target] *= prime
        if row[target] > space.limits[loop][target] or not space.keeps_given(loop, tuple(row)):
            return choice
        return replace(choice, factors={**choice.factors, loop: tuple(row)})
    place = random.randrange(len(problem.machine.levels))
    if kind < 0.9:
        order = list(choice.orders[place])
        first, second = random.randrange(len(order)), random.randrange(len(order))
        order[first], order[second] = order[second], order[first]
        return replace(choice, orders=(*choice.orders[:place], tuple(order), *choice.orders[place + 1 :]))
    must, may = problem.kept(place)
    free = sorted(may - must)
    if not free:
        return choice
    name = random.choice(free)
    kept = set(choice.keep[place]) ^ {name}
    own = tuple(one.name for one in problem.nest.operands if one.name in kept)
    return replace(choice, keep=(*choice.keep[:place], own, *choice.keep[place + 1 :]))
