"""Proofs about schedules of kernels and mappings of layers in words: the space they cover, and why they hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mapper.kind.checker_lines import checker
from mapper.kind.part import Part
from mapper.kind.words import ProofWords, claimed, counted, exact, listed

Evidence = Mapping[str, Any]

LAYER_WORDS = ProofWords(
    "every algorithm of the layer, every loop that may be innermost, every unroll vector of up to 8 per loop, and "
    "every schedule of the loops that follow",
    {"*": "its value is the least sum over all unroll vectors of all boxes, found by dynamic programming"},
)


WHOLE_WORDS = ProofWords(
    "every schedule of every loop, at every initiation interval",
    {
        "*": "no loop takes fewer cycles: its least initiation interval is proven, and a start of n iterations takes "
        "n + floor(L / II) intervals at the least, L being the longest path of its graph"
    },
)


def kernel_words(part: Part) -> ProofWords:
    """Where the interval of the part's schedule is MII, that alone proves it."""
    mii = (part.cost or {}).get("mii")
    reached = None
    if mii is not None and part.certificate.value == mii:
        reached = (
            f"its initiation interval is MII = max(ResMII, RecMII) = {mii}, and this loop has no schedule with a "
            "smaller one on this machine"
        )
    return ProofWords(
        "every place and cycle of every operation, with every route of its values, at every initiation interval",
        {"cp-sat": "CP-SAT has refuted every smaller initiation interval, beginning with MII"},
        reached,
    )


def proof_lines(proof: Mapping[str, Any], reason: str) -> list[str]:
    """An accepted proof of a schedule in sentences."""
    if proof["evidence"]["rule"] == "sum":
        return whole_proof_lines(proof)
    problem, claim, evidence = proof["problem"], proof["claim"], proof["evidence"]
    machine, mapping = problem["machine"], evidence["mapping"]
    lines = [
        claimed(claim, "schedule", "an initiation interval (II)", "cycles"),
        f"Problem: {counted(len(problem['operations']), 'operation')} and {counted(len(problem['edges']), 'edge')} on "
        f"{machine['rows']} x {machine['columns']} PEs.",
    ]
    if mapping is not None:
        lines.append(
            f"The document's schedule has II {exact(mapping['ii'])} and keeps every rule: on units, slots, latencies, "
            "ports, and the places that hold each value until it is read."
        )
    return [*lines, *_bound(problem, evidence["bound"])]


def whole_proof_lines(proof: Mapping[str, Any]) -> list[str]:
    """An accepted proof of a whole kernel in sentences."""
    problem, claim, evidence = proof["problem"], proof["claim"], proof["evidence"]
    lines = [claimed(claim, "mapping", "a sum of cycles", "cycles")]
    for at, (choice, bounds) in enumerate(zip(problem["choices"], evidence["bound"], strict=True)):
        lines.append(
            f"Nest {choice['nest']}{', the one that is mapped' if at == evidence['choice'] else ''}: "
            f"{counted(len(choice['loops']), 'loop')}, and {counted(sum(choice['host'].values()), 'operation')} of the "
            "host, one after another. How often everything runs is part of the problem."
        )
        for number, (loop, bound) in enumerate(zip(choice["loops"], bounds, strict=True)):
            own = {key: loop[key] for key in ("operations", "edges")} | {
                "objective": checker("modulo_schedule").OBJECTIVE,
                "fixed_ii": None,
                "machine": problem["machine"],
            }
            lines.append(
                f"Loop {number}: {counted(loop['starts'], 'start')} with "
                f"{counted(loop['iterations'], 'iteration')}, {counted(len(loop['operations']), 'operation')}."
            )
            lines += _bound(own, bound)
    return [
        *lines,
        "A start of n iterations takes (n + stages - 1) * II cycles; the stages are more than L / II, where L is the "
        "longest path of an iteration at that II. The least of this over every II that the evidence leaves, summed "
        "over all loops, with the host's cycles and those around each start, is the bound (lemma Nest).",
    ]


def cycle_of(problem: Mapping[str, Any], evidence: Evidence) -> list[tuple[str, int, int]]:
    """The operations around a recurrence, each with latency and distance of the edge to the next."""
    edges = checker("modulo_schedule").Loop(problem).edges
    names = [name for name, _ in problem["operations"]]
    return [(names[edges[at][0]], edges[at][4], edges[at][3]) for at in evidence["edges"]]


def least_ii(problem: Mapping[str, Any], evidence: Evidence) -> tuple[int, bool]:
    """The least II that the evidence leaves possible, and whether there is one (otherwise no II has a schedule)."""
    module = checker("modulo_schedule")
    if evidence["rule"] == "clauses":
        least, is_one = least_ii(problem, evidence["below"])
        return least + len(evidence["steps"]), is_one
    least = module.Loop(problem).least(evidence)
    return least, least != module.NEVER


def _bound(problem: Mapping[str, Any], evidence: Evidence) -> list[str]:
    tell = {
        "cycle": _cycle,
        "units": _units,
        "ports": _ports,
        "parity": _parity,
        "operands": _operands,
        "survival": _survival,
        "fixed": _fixed,
        "clauses": _clauses,
    }
    return tell[evidence["rule"]](problem, evidence)


def _cycle(problem: Mapping[str, Any], evidence: Evidence) -> list[str]:
    steps = cycle_of(problem, evidence)
    latency, distance = sum(step[1] for step in steps), sum(step[2] for step in steps)
    least, is_one = least_ii(problem, evidence)
    end = f"so II >= {least:,}" if is_one else "so the loop waits for itself at every II"
    return [
        f"Evidence: the recurrence {listed([*(name for name, *_ in steps), steps[0][0]], ' -> ')}: latency "
        f"{latency:,} over distance {distance:,}, {end}.",
        f"One trip around the recurrence takes {counted(latency, 'cycle')}. Its result is used "
        f"{counted(distance, 'iteration')} later, that is, {distance:,} * II cycles later. The start times cancel, "
        f"which leaves {distance:,} * II >= {latency:,} (lemma Recurrence).",
    ]


def _units(problem: Mapping[str, Any], evidence: Evidence) -> list[str]:
    loop, chosen = checker("modulo_schedule").Loop(problem), evidence["operations"]
    pes = len(set().union(*(loop.able[v] for v in chosen)))
    units = sorted({loop.units[v] for v in chosen})
    names = [problem["operations"][v][0] for v in chosen]
    least, is_one = least_ii(problem, evidence)
    end = f"so II >= {least:,}" if is_one else "so no II has a schedule"
    return [
        f"Evidence: {counted(len(chosen), 'operation')} of unit {' or '.join(units)} ({listed(names)}) can run on only "
        f"{counted(pes, 'PE')}: {len(chosen):,} over {pes:,}, {end}.",
        "A PE issues one operation per cycle, so it has II slots (lemma Slots).",
    ]


def _ports(problem: Mapping[str, Any], evidence: Evidence) -> list[str]:
    loop = checker("modulo_schedule").Loop(problem)
    count, least = loop.units.count("memory"), least_ii(problem, evidence)[0]
    return [
        f"Evidence: {counted(count, 'load and store', 'loads and stores')} share "
        f"{counted(loop.memory_ports, 'memory port')}. A port serves one of them per cycle: {count:,} over "
        f"{loop.memory_ports:,}, so II >= {least:,} (lemma Ports)."
    ]


def _parity(problem: Mapping[str, Any], evidence: Evidence) -> list[str]:
    walk, colours, edges = evidence["walk"], evidence["colours"], problem["edges"]
    names = [problem["operations"][edges[edge][back]][0] for edge, back in walk]
    return [
        f"Evidence: the array is a chessboard of {counted(colours.count(0), 'white PE')} and {colours.count(1):,} "
        "black ones, and every link joins two colours. At II 1 a place holds a value for only one cycle, so a value "
        "changes colour in every cycle of its route.",
        f"The closed walk {listed([*names, names[0]], ' - ')} along {counted(len(walk), 'operand')} would change "
        "colour an odd number of times and yet end where it began. So II >= 2 (lemma Chessboard).",
    ]


def _operands(problem: Mapping[str, Any], evidence: Evidence) -> list[str]:
    return [
        f"Evidence: {counted(len(evidence['edges']), 'operand')} followed from PE to PE. Different operands of an "
        "operation are held in different places, and each needs a path to its place. For some operation no PE has room "
        "and paths for all operands. So no II has a schedule (lemma Operands)."
    ]


def _survival(problem: Mapping[str, Any], evidence: Evidence) -> list[str]:
    return [
        "Evidence: all sequences of cycles were followed; in each cycle a PE issues an operation, a move or nothing. "
        f"No sequence executes {counted(evidence['iterations'], 'iteration')}, as every schedule does. So no II has a "
        "schedule (lemma Survival)."
    ]


def _fixed(problem: Mapping[str, Any], evidence: Evidence) -> list[str]:
    return [f"The problem fixes the II to {exact(problem['fixed_ii'])}, so no smaller one is in question."]


def _clauses(problem: Mapping[str, Any], evidence: Evidence) -> list[str]:
    lines, loop = _bound(problem, evidence["below"]), checker("modulo_schedule").Loop(problem)
    first = least_ii(problem, evidence["below"])[0]
    for ii, steps in enumerate(evidence["steps"], first):
        lines.append(
            f"II {ii:,} is refuted: the checker writes down {counted(len(loop.statements(ii)), 'clause')} that every "
            f"schedule at this II satisfies. From these, {counted(len(steps), 'step follows', 'steps follow')} in "
            "turn, and the last one is the empty clause, which nothing satisfies (lemma Clauses)."
        )
    if evidence["steps"]:
        lines.append(f"So II >= {first + len(evidence['steps']):,}.")
    return lines
