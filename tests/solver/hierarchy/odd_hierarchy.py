"""Small problems with everything at once: any affine nest, up to four levels, whatever may be pinned."""

from __future__ import annotations

from random import Random
from typing import Any

from mapper.arch.hierarchy import Constraint, HierarchyMachine, hierarchy_from_document
from mapper.formulations.hierarchy.problem import HierarchyProblem, Pins
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document

NAMES = ("K", "C", "P", "R", "N")
TENSORS = ("W", "I", "A")


def odd_nest(random: Random) -> LoopNest:
    """One to five loops and two to four tensors, whose dimensions are any sums of one or two loops."""
    while True:
        loops = {
            name: random.choice((1, 2, 2, 3, 4, 5, 6))
            for name in random.sample(NAMES, random.choice((1, 2, 3, 3, 4)))
        }
        signs = random.choice(((1,), (1,), (1,), (1, 1, -1)))
        operands: list[dict[str, Any]] = [
            {"tensor": name, "index": _index(random, list(loops), signs)}
            for name in TENSORS[: random.choice((1, 2, 2, 3))]
        ]
        written = {
            "tensor": "O",
            "index": _index(random, list(loops)),
            "access": "read_write",
            "zero_initialised": random.random() < 0.8,
        }
        operands.insert(random.randint(0, len(operands)), written)
        document = {"schema": "mapper.nest/1", "name": "odd", "loops": loops, "operands": operands}
        try:
            return nest_from_document(document, "odd")
        except InputError:
            continue


def _index(random: Random, loops: list[str], signs: tuple[int, ...] = ()) -> list[str | int]:
    """Dimensions of a tensor; without ``signs`` few that several loops move, since each word is to be written once."""
    found: list[str | int] = []
    for _ in range(random.choice((1, 2, 2, 3))):
        count = random.choice((0, 1, 1, 1, 2, 2, 3) if signs else (1, 1, 1, 2))
        terms = random.sample(loops, min(len(loops), count))
        factors = [random.choice((1, 1, 1, 2, 3)) * random.choice(signs or (1,)) for _ in terms]
        if not signs and len(terms) == 2:
            factors = [1, random.choice((2, 3, 4, 6))]
        parts = [f"{factor}*{loop}" for factor, loop in zip(factors, terms, strict=True)]
        found.append(" + ".join(parts) or 0)
    return found


def odd_machine(random: Random) -> HierarchyMachine:
    """One to four levels, every field of each."""
    count = random.choice((1, 2, 2, 3, 3, 4))
    levels = [_level(random, place) for place in range(count)]
    document = {
        "schema": "mapper.hierarchy/1",
        "name": "odd",
        "levels": levels,
        "compute": {
            "rate": random.choice((1, 1, 2, 3)),
            "energy_pj": random.choice((0, 1, 0.5)),
            "leak_pj": random.choice((0, 0, 0.25)),
        },
        "rules": {
            "first_read": random.choice(("elided", "elided", "counted")),
            "first_fill": random.choice(("elided", "counted")),
            "link_transfers": random.random() < 0.2,
            "throttling": random.choice(("exact", "exact", "floating")),
        },
        "constraints": [
            _constraint(random, f"L{random.randrange(count)}") for _ in range(random.choice((0, 0, 1, 2)))
        ],
    }
    return hierarchy_from_document(document, "odd")


def _level(random: Random, place: int) -> dict[str, Any]:
    level: dict[str, Any] = {
        "name": f"L{place}",
        "word_bits": random.choice((8, 16)),
        "block": random.choice((1, 1, 2, 3, 8)),
        "cluster": random.choice((1, 1, 2, 4)),
        "energy_pj": {
            "read": random.choice((0, 1, 2.25, 60, 100)),
            "fill": random.choice((0, 1, 20.5, 40)),
            "update": random.choice((0, 1, 3, 50)),
            "leak": random.choice((0, 0, 0.125, 4)),
        },
    }
    if place:
        level["words"] = random.choice((1, 2, 3, 5, 9, 16, 40, 100))
        level["buffers"] = random.choice((1, 1, 1, 1.5, 2))
        roles = random.sample(["W", "I", "O"], 3)
        level["bypass"] = roles[: random.choice((0, 0, 1, 1, 2))]
        level["keep"] = [one for one in roles[2:] if random.random() < 0.3]
    if random.random() < 0.5:
        sorts = random.sample(["read", "write", "shared"], random.choice((1, 1, 2, 3)))
        level["bandwidth"] = {sort: random.choice((0.3, 0.5, 1, 2.5)) for sort in sorts}
    if random.random() < 0.55:
        level["fanout"] = {
            "x": random.choice((1, 2, 2, 3, 4, 6)),
            "y": random.choice((1, 1, 2, 3)),
            "multicast": random.random() < 0.7,
            "reduction": random.random() < 0.7,
        }
        for axis in ("x_loops", "y_loops"):
            if random.random() < 0.25:
                level["fanout"][axis] = random.sample(NAMES, random.choice((1, 2, 3)))
    return level


def _constraint(random: Random, level: str) -> dict[str, Any]:
    loops = random.sample(NAMES, random.choice((1, 2, 3)))
    kind = random.choice(("temporal", "spatial"))
    found: dict[str, Any] = {"level": level, "kind": kind}
    sort = random.choice(("factors", "most", "permutation", "split"))
    if sort in ("factors", "most"):
        found[sort] = {loop: random.choice((1, 1, 2, 3)) for loop in loops[:2]}
    else:
        found["permutation"] = loops
    if sort == "split" and kind == "spatial":
        found["split"] = random.choice((0, 1, 2))
    return found


def odd_pins(random: Random, nest: LoopNest, machine: HierarchyMachine) -> Pins:
    """Nothing, or something of everything."""
    if random.random() < 0.5:
        return Pins()
    levels = [level.name for level in machine.levels]
    tensors = [operand.name for operand in nest.operands]
    constraints = tuple(
        Constraint.model_validate(_of(nest, _constraint(random, random.choice(levels))))
        for _ in range(random.choice((0, 1)))
    )
    kept = tuple(
        (random.choice(levels[1:]), random.choice(tensors)) for _ in levels[1:] if random.random() < 0.2
    )
    passed = tuple(
        (random.choice(levels[1:]), random.choice(tensors)) for _ in levels[1:] if random.random() < 0.2
    )
    padded: tuple[tuple[str, int], ...] = ()
    if random.random() < 0.3:
        loop, bound = random.choice(nest.bounds)
        padded = ((loop, random.randint(bound, 2 * bound - 1)),)
    return Pins(constraints, kept, passed, padded)


def _of(nest: LoopNest, constraint: dict[str, Any]) -> dict[str, Any]:
    """A constraint with loops of the nest alone."""
    for key in ("factors", "most"):
        if key in constraint:
            constraint[key] = {loop: trips for loop, trips in constraint[key].items() if loop in nest.loops}
    if "permutation" in constraint:
        constraint["permutation"] = [loop for loop in constraint["permutation"] if loop in nest.loops]
    return constraint


def odd_problem(seed: int) -> HierarchyProblem:
    """The problem of a seed."""
    random = Random(seed)
    nest, machine = odd_nest(random), odd_machine(random)
    objective = random.choice(("edp", "energy", "latency"))
    most = random.choice((None, None, None, random.randint(1, nest.iterations)))
    return HierarchyProblem(nest, machine, objective, odd_pins(random, nest, machine), most)  # type: ignore[arg-type]
