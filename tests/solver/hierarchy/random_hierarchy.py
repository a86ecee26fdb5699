"""Small problems of the kind ``hierarchy``, drawn from everything that nests, machines and pins allow."""

from __future__ import annotations

from random import Random
from typing import Any

from mapper.arch.hierarchy import HierarchyMachine, hierarchy_from_document
from mapper.formulations.hierarchy.problem import HierarchyProblem, Pins
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document


def random_nest(random: Random) -> LoopNest:
    """A product, a window over one dimension, or a nest of four tensors; bounds of few factors."""
    kind = random.choice(("product", "window", "window", "four"))
    size = [1, 2, 2, 3, 4]
    if kind == "product":
        loops = {name: random.choice(size) for name in "IJK"}
        indices = {"A": ["I", "K"], "B": ["K", "J"], "O": ["I", "J"]}
    elif kind == "window":
        loops = {
            "K": random.choice((1, 2)),
            "C": random.choice((1, 2)),
            "P": random.choice(size),
            "R": random.choice((2, 3)),
        }
        window = f"{random.choice((1, 1, 2))}*P + {random.choice((1, 1, 2))}*R"
        indices = {"W": ["K", "C", "R"], "I": ["C", window], "O": ["K", "P"]}
    else:
        loops = {name: random.choice((1, 2, 2, 3)) for name in "IJKL"}
        indices = {"A": ["I", "K", "L"], "B": ["K", "J"], "D": ["L", "J"], "O": ["I", "J"]}
    operands = [
        {"tensor": name, "index": index, "access": "read_write" if name == "O" else "read"}
        for name, index in indices.items()
    ]
    return nest_from_document(
        {"schema": "mapper.nest/1", "name": kind, "loops": loops, "operands": operands}, "drawn"
    )


def random_machine(random: Random, links: bool = False) -> HierarchyMachine:
    """Two or three levels, whole energies, small capacities."""
    levels: list[dict[str, Any]] = []
    for place in range(random.choice((2, 2, 3))):
        level: dict[str, Any] = {"name": f"L{place}", "block": random.choice((1, 1, 2, 4))}
        level["energy_pj"] = {
            "read": random.randint(1, 100),
            "fill": random.randint(0, 50),
            "update": random.randint(1, 50),
            "leak": random.choice((0, 0, 3)),
        }
        if place:
            level["words"] = random.choice((2, 4, 8, 16, 40))
            level["bypass"] = random.choice(([], [], ["O"], ["W"], ["I"]))
            level["keep"] = [
                name for name in random.choice(([], ["*"], ["I"], ["W"], ["O"])) if not level["bypass"]
            ]
        if random.random() < 0.5:
            level["bandwidth"] = {random.choice(("read", "write", "shared")): random.choice((0.5, 1, 2, 4))}
        if random.random() < 0.5:
            level["fanout"] = {"x": random.choice((2, 3)), "y": random.choice((1, 2))}
            if random.random() < 0.3:
                level["fanout"] |= {"x_loops": ["K", "C", "J"], "multicast": random.random() < 0.5}
        levels.append(level)
    rules = {
        "link_transfers": links,
        "first_fill": random.choice(("elided", "counted")),
        "throttling": random.choice(("exact", "floating")),
    }
    return hierarchy_from_document(
        {
            "schema": "mapper.hierarchy/1",
            "name": "drawn",
            "levels": levels,
            "compute": {"energy_pj": random.randint(0, 5), "leak_pj": random.choice((0, 1))},
            "rules": rules,
            "constraints": _constraints(random, len(levels)),
        },
        "drawn",
    )


def _constraints(random: Random, levels: int) -> list[dict[str, Any]]:
    if random.random() < 0.6:
        return []
    level = f"L{random.randrange(levels)}"
    return [
        random.choice(
            (
                {"level": level, "kind": "temporal", "factors": {random.choice("KPIC"): 1}},
                {"level": level, "kind": "temporal", "most": {random.choice("KPRJ"): 2}},
                {"level": level, "kind": "temporal", "permutation": random.sample(["K", "C", "P", "I"], 2)},
                {"level": level, "kind": "spatial", "permutation": ["K", "C"], "split": 1},
            )
        )
    ]


def random_problem(seed: int, links: bool = False) -> HierarchyProblem:
    """The problem of a seed."""
    random = Random(seed)
    nest = random_nest(random)
    machine = random_machine(random, links)
    objective = random.choice(("edp", "energy", "latency"))
    return HierarchyProblem(nest, machine, objective, Pins())  # type: ignore[arg-type]
