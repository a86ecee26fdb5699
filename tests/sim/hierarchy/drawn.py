"""Mappings onto a hierarchy, drawn from everything that can be written down, whether or not tiles fit."""

from __future__ import annotations

from random import Random
from typing import Any

from mapper.arch.hierarchy import HierarchyMachine, hierarchy_from_document
from mapper.arch.source import load_machine
from mapper.models.hierarchy.imperfect.digit import with_last_passes
from mapper.models.hierarchy.imperfect.limit import why_only_perfect
from mapper.models.hierarchy.mapping import HierarchyMapping, LevelMapping, SpatialLoop, TemporalLoop
from mapper.solver.hierarchy.space import prime_factors
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document


def preset_machine(name: str) -> HierarchyMachine:
    """A preset."""
    machine, _ = load_machine(name)
    assert isinstance(machine, HierarchyMachine)
    return machine


Places = dict[tuple[int, str], dict[str, int]]
"""Trips of loops by level and axis; in time, the axis is empty."""


def _placed(random: Random, nest: LoopNest, machine: HierarchyMachine, places: Places) -> HierarchyMapping:
    """The mapping whose loops have these trips, in any order; levels keep what they like."""
    names = [operand.name for operand in nest.operands]
    levels = []
    for place, memory in enumerate(machine.levels):
        temporal = [TemporalLoop(*one) for one in places.get((place, ""), {}).items()]
        spatial = [SpatialLoop(*one, "x") for one in places.get((place, "x"), {}).items()]
        spatial += [SpatialLoop(*one, "y") for one in places.get((place, "y"), {}).items()]
        random.shuffle(temporal)
        random.shuffle(spatial)
        kept = tuple(name for name in names if not place or random.random() < 0.6)
        levels.append(LevelMapping(memory.name, kept, tuple(temporal), tuple(spatial)))
    return HierarchyMapping(tuple(levels))


def drawn_mapping(random: Random, nest: LoopNest, machine: HierarchyMachine) -> HierarchyMapping:
    """Every prime factor of a bound at some level, in time or in space; levels keep what they like."""
    places: Places = {}
    for loop, bound in nest.bounds:
        for prime in prime_factors(bound):
            level = random.randrange(len(machine.levels))
            own = places.setdefault((level, random.choice(("", "", "x", "y"))), {})
            own[loop] = own.get(loop, 1) * prime
    return _placed(random, nest, machine, places)


def drawn_cut(random: Random, nest: LoopNest, machine: HierarchyMachine) -> HierarchyMapping:
    """Factors that need not divide, at some levels, in time or in space, until they cover every bound."""
    places: Places = {}
    for loop, bound in nest.bounds:
        reach = 1
        while reach < bound:
            trips = random.randint(2, max(2, bound - 1))
            level = random.randrange(len(machine.levels))
            own = places.setdefault((level, random.choice(("", "", "x", "y"))), {})
            own[loop] = own.get(loop, 1) * trips
            reach *= trips
    return with_last_passes(_placed(random, nest, machine, places), nest.trip_counts)


def drawn_cut_problem(seed: int) -> tuple[LoopNest, HierarchyMachine, HierarchyMapping] | None:
    """A nest of odd bounds, a machine and a mapping whose last passes are smaller; None where there is none, or the
    machine does not count it."""
    random = Random(seed)
    nest, drawn = drawn_nest(random), drawn_machine(random)
    machine = drawn.model_copy(update={"rules": drawn.rules.model_copy(update={"link_transfers": False})})
    nest = nest.padded({loop: max(bound, random.choice((1, 2, 3, 5, 5, 7))) for loop, bound in nest.bounds})
    if why_only_perfect(nest, machine) is not None:
        return None
    mapping = drawn_cut(random, nest, machine)
    return None if mapping.is_perfect else (nest, machine, mapping)


def drawn_machine(random: Random) -> HierarchyMachine:
    """Two to five levels, every rule either way."""
    levels = []
    for place in range(random.randint(2, 5)):
        level = {
            "name": f"L{place}",
            "block": random.choice((1, 2, 4)),
            "cluster": random.choice((1, 1, 4)),
            "energy_pj": {
                "read": random.choice((1.5, 3, 100.25)),
                "fill": random.randint(0, 50),
                "update": random.randint(1, 50),
                "leak": random.choice((0, 0.125)),
            },
            "fanout": {
                "x": random.choice((1, 4, 8)),
                "y": random.choice((1, 4)),
                "multicast": random.random() < 0.8,
                "reduction": random.random() < 0.8,
            },
        }
        if random.random() < 0.5:
            level["bandwidth"] = {random.choice(("read", "write", "shared")): random.choice((0.3, 1, 2.5))}
        levels.append(level)
    rules = {
        "first_read": random.choice(("elided", "counted")),
        "first_fill": random.choice(("elided", "counted")),
        "link_transfers": random.random() < 0.6,
        "throttling": random.choice(("exact", "floating")),
    }
    compute = {
        "rate": random.choice((1, 2)),
        "energy_pj": random.choice((0.5, 2)),
        "leak_pj": random.choice((0, 1)),
    }
    document = {"schema": "mapper.hierarchy/1", "name": "drawn", "levels": levels, "compute": compute}
    return hierarchy_from_document({**document, "rules": rules, "clock_mhz": 200}, "drawn")


def drawn_nest(random: Random) -> LoopNest:
    """A product, a convolution, one whose results lie interleaved, four tensors, or a sum."""
    size = (1, 2, 3, 4, 6)
    indices, operation = random.choice(
        (
            ({"A": ["I", "K"], "B": ["K", "J"], "O": ["I", "J"]}, "multiply_add"),
            (
                {"W": ["K", "C", "R"], "I": ["N", "C", "2*P + R"], "O": ["N", "K", "P"]},
                "multiply_add",
            ),
            (
                {"W": ["K", "C", "R"], "I": ["C", "P + 2*R - 3"], "O": ["K", "P"]},
                "multiply_add",
            ),
            ({"W": ["C", "R"], "I": ["C", "P"], "O": ["R + 6*P"]}, "multiply_add"),
            ({"A": ["I", "K", "L"], "B": ["K", "J"], "D": ["L", "J"], "O": ["I", "J"]}, "multiply_add"),
            ({"A": ["I - J", "K"], "B": ["K"], "O": ["I", "J"]}, "multiply_add"),
            ({"A": ["I", "K"], "B": ["K"], "O": ["I"]}, "add"),
            ({"A": ["I", "J + 2"], "O": ["I", "2*J"]}, "add"),
        )
    )
    text = " ".join(place for index in indices.values() for place in index)
    names = sorted({character for character in text if character.isalpha()})
    operands: list[dict[str, Any]] = [
        {"tensor": name, "index": index, "access": "read_write" if name == "O" else "read"}
        for name, index in indices.items()
    ]
    if set(indices) == {"A", "O"}:
        operands[-1]["access"] = "write"
    if random.random() < 0.2:
        operands[-1]["zero_initialised"] = False
    loops = {name: random.choice(size) for name in names}
    return nest_from_document(
        {
            "schema": "mapper.nest/1",
            "name": "drawn",
            "loops": loops,
            "operands": operands,
            "operation": operation,
        },
        "drawn",
    )
