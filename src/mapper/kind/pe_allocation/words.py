"""What proofs about allocations speak of, and what they say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mapper.kind.checker_lines import checker
from mapper.kind.words import ProofWords, claimed, counted, exact, listed

WORDS = ProofWords(
    "every number of PEs for every layer, under the model of rates and start times that model= names"
)

MOST_TOLD = 40
"""Layers that are told one by one."""
Document = Mapping[str, Any]


@dataclass(frozen=True)
class Cap:
    """A layer of which no better allocation lets a position take more than ``pace`` cycles (None: as many as there
    are), and the fewest PEs for that (a share of a PE where layers share one; None: no number does)."""

    name: str
    pace: int | None
    pes: Fraction | int | None


@dataclass(frozen=True)
class Limits:
    """What a better allocation would keep: PEs, cycles between frames, cycles of latency; None where there is none."""

    pes: int
    interval: int | None
    cycles: int | None


def limits(proof: Document) -> Limits:
    """What the claim of a proof denies."""
    problem, claim = proof["problem"], proof["claim"]
    pes, interval, cycles = problem["pes"], problem["interval"], None
    if claim["status"] != "infeasible":
        bound = Fraction(claim["bound"])
        if problem["objective"] == "throughput":
            fewer = math.ceil(problem["clock_hz"] / bound) - 1
            interval = fewer if interval is None else min(interval, fewer)
        elif problem["objective"] == "latency":
            cycles = math.ceil(bound) - 1
        else:
            pes = min(pes, math.ceil(bound) - 1)
    return Limits(pes, interval, cycles)


def caps(proof: Document) -> list[Cap]:
    """The cap of every layer, by lemma Caps as the checker has it."""
    module, limit = checker("pe_allocation"), limits(proof)
    module.WORK[0] = 0
    net = module.Network(proof["problem"])
    net.most = limit.pes
    net.steps = [layer.steps(limit.pes, net.free) for layer in net.layers]
    interval, cycles = (module.ENDLESS if one is None else one for one in (limit.interval, limit.cycles))
    ends = [min(interval, cycles if at in net.last else module.ENDLESS) for at in range(len(net.layers))]
    high = [end // layer.positions for end, layer in zip(ends, net.layers, strict=True)]
    if not net.streaming:
        for at in reversed(range(len(high))):
            high[at] = min(
                [high[at], *(high[reader] // net.layers[reader].new for reader in net.readers[at])]
            )
    found = []
    for at, layer in enumerate(proof["problem"]["layers"]):
        least = min((price for _, price in net.ends(at, 0, high[at])), default=None)
        found.append(Cap(layer["name"], None if high[at] >= module.MOST else high[at], least))
    return found


def proof_lines(proof: Document, reason: str) -> list[str]:
    """An accepted proof of an allocation in sentences."""
    problem, claim, evidence = proof["problem"], proof["claim"], proof["evidence"]
    measure = {"throughput": "a throughput", "latency": "a latency", "pes": "a number of PEs"}[
        problem["objective"]
    ]
    lines = [
        claimed(claim, "allocation", measure, problem["unit"], problem["sense"] == "most"),
        f"Problem: {counted(len(problem['layers']), 'layer')} on {counted(problem['pes'], 'PE')}, mode "
        f"{problem['mode']}, model {problem['model']}.",
    ]
    if evidence["mapping"] is not None:
        taken = sum(evidence["mapping"]["pes"])
        lines.append(
            f"The document's allocation gives layers {counted(taken, 'PE')} and is priced by the checker."
        )
    return lines + {"storage": _storage, "frame": _frame, "runs": _runs, "tree": _counting}[evidence["rule"]](
        proof
    )


def denied(limit: Limits) -> str:
    """What a better allocation would keep, as a clause."""
    said = [f"{limit.pes:,} PEs at most"]
    if limit.interval is not None:
        said.append(f"a frame every {exact(limit.interval)} cycles or sooner")
    if limit.cycles is not None:
        said.append(f"a latency of {exact(limit.cycles)} cycles or less")
    return " and ".join(said)


def _storage(proof: Document) -> list[str]:
    return [
        f"Evidence: the words that any allocation buffers take more than the {exact(proof['problem']['bytes'])} bytes "
        "that are allowed, however PEs are given."
    ]


def _frame(proof: Document) -> list[str]:
    module, limit = checker("pe_allocation"), limits(proof)
    module.WORK[0] = 0
    least = module.Network(proof["problem"]).fastest(limit.pes)
    if least is None:
        return [f"Evidence: what is pinned asks for more than the {limit.pes:,} PEs."]
    return [
        f"Evidence: layers run one after another, each fastest with all of {counted(limit.pes, 'PE')}. Together they "
        f"take {exact(least)} cycles, where a better allocation would have {denied(limit)} (lemma Frame)."
    ]


def _counting(proof: Document) -> list[str]:
    limit, found, nodes = limits(proof), caps(proof), proof["evidence"]["nodes"]
    lines = [
        f"Evidence: a better allocation would have {denied(limit)}. For each layer this leaves (lemma Caps):"
    ]
    lines += [_capped(cap) for cap in found[:MOST_TOLD]]
    if len(found) > MOST_TOLD:
        lines.append(f"… and {len(found) - MOST_TOLD:,} more layers.")
    if any(cap.pes is None for cap in found):
        lines.append("A layer has no number of PEs left, so that there is no such allocation.")
    else:
        total = math.ceil(sum(cap.pes for cap in found if cap.pes is not None))
        beyond = "more than there may be" if total > limit.pes else "which alone is no contradiction"
        lines.append(f"Together at least {total:,} PEs of {limit.pes:,}: {beyond}.")
    return [*lines, *tree_lines(nodes, [layer["name"] for layer in proof["problem"]["layers"]])]


def _capped(cap: Cap) -> str:
    pace = (
        "as many cycles a position as it likes"
        if cap.pace is None
        else f"{exact(cap.pace)} cycles a position at most"
    )
    if cap.pes is None:
        return f"{cap.name}: {pace}, which no number of PEs keeps."
    least = (
        f"{counted(cap.pes, 'PE')} at least"
        if isinstance(cap.pes, int)
        else f"{exact(cap.pes)} of a PE at least"
    )
    return f"{cap.name}: {pace}, which takes {least}."


def tree_lines(nodes: Sequence[Any], names: Sequence[str]) -> list[str]:
    """A tree of paces in sentences."""
    splits = [node for node in nodes if isinstance(node, list)]
    leaves = [node for node in nodes if isinstance(node, dict)]
    counts = len(nodes) - len(splits) - len(leaves)
    if not nodes or nodes == ["caps"]:
        return ["No tree is needed: this closes all."] if nodes else []
    lines = [
        f"The tree has {counted(len(nodes), 'node')}: {counted(len(splits), 'node parts', 'nodes part')} the cycles a "
        f"position of a layer in two, {counted(counts, 'leaf is', 'leaves are')} closed by caps and "
        f"{counted(len(leaves), 'leaf', 'leaves')} by multipliers."
    ]
    if splits:
        lines.append(
            f"The first node: {names[splits[0][0]]} takes up to {exact(splits[0][1])} cycles, or more."
        )
    if leaves:
        lines.append(
            "Multipliers: a sum of inequalities, each times a number >= 0, that leaves less than 0 (lemma "
            "Multipliers). At the first such leaf: " + listed(_summed(leaves[0], names)) + "."
        )
    return lines


def _summed(leaf: Document, names: Sequence[str]) -> Iterator[str]:
    if leaf["pes"]:
        yield f"{exact(leaf['pes'])} times 'no more PEs than there are'"
    for at, times in leaf["ends"]:
        yield f"{exact(times)} times '{names[at]} ends in time'"
    for reader, feed, _, _, times in leaf["starts"]:
        yield f"{exact(times)} times '{names[reader]} starts after what it reads of {names[feed]}'"
    for reader, feed, times in leaf["rates"]:
        yield f"{exact(times)} times '{names[reader]} is no faster than {names[feed]} feeds it'"


def _runs(proof: Document) -> list[str]:
    nodes, limit = proof["evidence"]["nodes"], limits(proof)
    names = [layer["name"] for layer in proof["problem"]["layers"]]
    potentials = nodes["potentials"]
    shown = ", ".join("none" if one is None else exact(one) for one in potentials[:MOST_TOLD])
    lines = [
        f"Evidence: a better allocation would have {denied(limit)}.",
        f"If all layers are one run: {(tree_lines(nodes['alone'], names) or ['there is no room for it.'])[0]}",
        f"If there are several, their cycles add up. Potentials between the layers ({shown}) are such that each run "
        "takes at least the potential at its end less that at its start; together all take at least the last less the "
        "first (lemma Runs).",
    ]
    for first, end, least, tree in nodes["runs"][:MOST_TOLD]:
        said = "cannot be" if least is None else f"takes at least {exact(least)} cycles"
        lines.append(f"{names[first]} to {names[end - 1]} {said}: {counted(len(tree), 'node')}.")
    return lines
