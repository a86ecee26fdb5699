"""The integer linear program against CP-SAT on random networks of up to 40 layers: disagreements and seconds.

Chains with branches and joins, sizes as in usual networks. Both prove the objective; they disagree if they prove
different values, or if the referee rejects an allocation. What CBC says and integers refute counts as unproven.
"""

from __future__ import annotations

import argparse
import random
import time
from functools import partial

from bench.measure import measure, show
from mapper.arch.tcpa import tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.problem import OBJECTIVES, AllocationProblem, Objective
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.cost import MODELS, Model
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import Operation, StreamLayer, StreamNetwork
from mapper.solver.method import Effort, Method
from mapper.solver.pe_allocation.parallel.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.pe_allocation.parallel.integer_program import INTEGER_PROGRAM

METHODS = (INTEGER_PROGRAM, CONSTRAINT_PROGRAM)
Answer = tuple[int, ...] | str


def main() -> None:
    """Print one line per objective."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=1000)
    parser.add_argument("--layers", type=int, default=40)
    parser.add_argument("--model", choices=MODELS[:2], default="calculus")
    parser.add_argument("--sharing", action="store_true")
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of one method on one network")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    lines = []
    for objective in OBJECTIVES:
        seconds = dict.fromkeys((method.name for method in METHODS), 0.0)
        longest = dict(seconds)
        differ = other_rank = unproven = infeasible = count = 0
        for number in range(given.networks):
            chance = random.Random(given.seed + number)
            # Every network is posed with one objective.
            if OBJECTIVES[number % len(OBJECTIVES)] != objective:
                continue
            problem = random_problem(chance, given.layers, objective, given.model, given.sharing)
            answers: list[Answer] = []
            for method in METHODS:
                run = measure(partial(answer, problem, method, given.seconds))
                seconds[method.name] += run.wall
                longest[method.name] = max(longest[method.name], run.wall)
                answers.append(run.result)
            count += 1
            unproven += "unproven" in answers
            infeasible += answers == ["infeasible"] * len(METHODS)
            known = [found for found in answers if found != "unproven"]
            differ += len({found[:1] if isinstance(found, tuple) else found for found in known}) > 1
            other_rank += len(set(known)) > 1
            if len(set(known)) > 1:
                print(f"seed {given.seed + number}, {objective}: {answers}", flush=True)
        lines.append(
            [objective, str(count), str(differ), str(other_rank), str(unproven), str(infeasible)]
            + [f"{value:.2f}" for method in METHODS for value in (seconds[method.name], longest[method.name])]
            + [f"{seconds['cp-sat'] / max(1e-9, seconds['ilp']):.2f}"]
        )
    heading = ["objective", "networks", "disagree", "ties disagree", "unproven", "no allocation"]
    heading += ["ilp s", "longest", "cp-sat s", "longest", "cp-sat / ilp"]
    show(f"Random networks of up to {given.layers} layers, model {given.model}:", heading, lines)


def answer(
    problem: AllocationProblem, method: Method[AllocationProblem, Allocation], seconds: float
) -> Answer:
    """The rank that a method proves best."""
    outcome = method.search(problem, Effort(deadline=time.monotonic() + seconds))
    if outcome.mapping is not None and not verify(problem, outcome.mapping).valid:
        return "rejected"
    if not outcome.proven:
        return "unproven"
    if outcome.mapping is None:
        return "infeasible"
    cost = verify(problem, outcome.mapping).cost
    assert cost is not None
    return problem.rank(cost)


def random_problem(
    chance: random.Random, most: int, objective: Objective, model: Model, sharing: bool
) -> AllocationProblem:
    """A random network on an array that holds it, or is a little too small; a pace that about half of them keep."""
    network = random_network(chance, chance.randint(2, most))
    rows, columns = chance.randint(1, 24), chance.randint(2, 24)
    document = tcpa_preset("tcpa-1x1")
    assert document is not None
    machine = tcpa_from_document({**document, "rows": rows, "columns": columns}, "random")
    slowest = max(layer.macs + layer.positions for layer in network.layers)
    longest = int(slowest / chance.uniform(0.5, 8)) + 1 if objective == "pes" else None
    return AllocationProblem(
        network,
        machine,
        objective,
        model,
        longest_interval=longest,
        sharing=sharing,
    )


def random_network(chance: random.Random, count: int) -> StreamNetwork:
    """Layers that read one or two before them; images shrink and maps become more, as in usual networks."""
    layers: list[StreamLayer] = []
    for position in range(count):
        feeds: tuple[int, ...] = ()
        if position:
            first = max(0, position - chance.choice((1, 1, 1, 1, 2, 3)))
            alike = [at for at in range(position) if layers[at].output_size == layers[first].output_size]
            feeds = tuple(sorted({first, chance.choice(alike)} if chance.random() < 0.3 else {first}))
        layers.append(_layer(chance, position, feeds, layers))
    return StreamNetwork("random", tuple(layers), ())


def _layer(
    chance: random.Random, position: int, feeds: tuple[int, ...], layers: list[StreamLayer]
) -> StreamLayer:
    size = layers[feeds[0]].output_size if feeds else (chance.choice((28, 56, 112)),) * 2
    channels = sum(layers[feed].maps for feed in feeds) if feeds else chance.choice((1, 3))
    operation: Operation = chance.choice(("convolution",) * 5 + ("pool", "elementwise"))
    side = 1 if operation == "elementwise" else chance.choice((1, 2, 3, 3, 5))
    stride = chance.choice((1, 1, 1, 2)) if operation != "elementwise" and min(size) > 4 else 1
    pad = side // 2
    out = tuple((length + 2 * pad - side) // stride + 1 for length in size)
    filters = chance.choice((8, 16, 24, 48, 64, 96, 128)) if operation == "convolution" else 1
    maps = filters if operation == "convolution" else channels
    depth = len(feeds) or 1
    if operation == "elementwise":
        filters = channels
    else:
        depth = channels
    macs = filters * depth * side * side * out[0] * out[1] if operation == "convolution" else 0
    return StreamLayer(
        f"layer{position}", "", operation, filters, depth, size, (out[0], out[1]), (side, side), (stride, stride),
        (1, 1), (pad, pad), channels, maps, 1, feeds, macs,
    )  # fmt: skip


if __name__ == "__main__":
    main()
