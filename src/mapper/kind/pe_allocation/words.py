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
    """In a better allocation a position of this layer takes at most ``pace`` cycles (None: no limit), and the fewest
    PEs that reach this pace (a share of a PE where layers share one; None: no number of PEs does)."""

    name: str
    pace: int | None
    pes: Fraction | int | None


@dataclass(frozen=True)
class Limits:
    """Limits that a better allocation would keep: PEs, cycles between frames, cycles of latency; None: no limit."""

    pes: int
    interval: int | None
    cycles: int | None


def limits(proof: Document) -> Limits:
    """The limits of those allocations that the claim says do not exist."""
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
    """The cap of every layer by lemma Caps, as the checker computes it."""
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
            f"The document's allocation gives the layers {counted(taken, 'PE')}. The checker computes its value again."
        )
    return lines + {"storage": _storage, "frame": _frame, "runs": _runs, "tree": _counting}[evidence["rule"]](
        proof
    )


def denied(limit: Limits) -> str:
    """The limits that a better allocation would keep, as part of a sentence."""
    said = [f"at most {limit.pes:,} PEs"]
    if limit.interval is not None:
        said.append(f"a frame every {exact(limit.interval)} cycles or sooner")
    if limit.cycles is not None:
        said.append(f"a latency of {exact(limit.cycles)} cycles or less")
    return " and ".join(said)


def _storage(proof: Document) -> list[str]:
    return [
        "Evidence: whatever PEs the layers get, the words that must be buffered take more than the allowed "
        f"{exact(proof['problem']['bytes'])} bytes."
    ]


def _frame(proof: Document) -> list[str]:
    module, limit = checker("pe_allocation"), limits(proof)
    module.WORK[0] = 0
    least = module.Network(proof["problem"]).fastest(limit.pes)
    if least is None:
        return [f"Evidence: the pinned decisions need more than the {limit.pes:,} PEs."]
    return [
        f"Evidence: layers run one after another, and each is fastest with all of {counted(limit.pes, 'PE')}. Together "
        f"they take {exact(least)} cycles, but a better allocation would have {denied(limit)} (lemma Frame)."
    ]


def _counting(proof: Document) -> list[str]:
    limit, found, nodes = limits(proof), caps(proof), proof["evidence"]["nodes"]
    lines = [
        f"Evidence: a better allocation would have {denied(limit)}. By lemma Caps this limits each layer:"
    ]
    lines += [_capped(cap) for cap in found[:MOST_TOLD]]
    if len(found) > MOST_TOLD:
        lines.append(f"… and {len(found) - MOST_TOLD:,} more layers.")
    if any(cap.pes is None for cap in found):
        lines.append("For one layer no number of PEs remains, so there is no such allocation.")
    else:
        total = math.ceil(sum(cap.pes for cap in found if cap.pes is not None))
        beyond = "too many" if total > limit.pes else "this alone is not a contradiction"
        lines.append(f"Together they need at least {total:,} PEs of {limit.pes:,}: {beyond}.")
    return [*lines, *tree_lines(nodes, [layer["name"] for layer in proof["problem"]["layers"]])]


def _capped(cap: Cap) -> str:
    pace = (
        "any number of cycles per position"
        if cap.pace is None
        else f"at most {exact(cap.pace)} cycles per position"
    )
    if cap.pes is None:
        return f"{cap.name}: {pace}, which no number of PEs reaches."
    least = (
        f"at least {counted(cap.pes, 'PE')}"
        if isinstance(cap.pes, int)
        else f"at least {exact(cap.pes)} of a PE"
    )
    return f"{cap.name}: {pace}, which takes {least}."


def tree_lines(nodes: Sequence[Any], names: Sequence[str]) -> list[str]:
    """A tree of paces in sentences."""
    splits = [node for node in nodes if isinstance(node, list)]
    leaves = [node for node in nodes if isinstance(node, dict)]
    counts = len(nodes) - len(splits) - len(leaves)
    if not nodes or nodes == ["caps"]:
        return ["No tree is needed: the caps alone rule out every case."] if nodes else []
    lines = [
        f"The tree has {counted(len(nodes), 'node')}: {counted(len(splits), 'node splits', 'nodes split')} the cycles "
        f"per position of a layer into two ranges, {counted(counts, 'leaf is', 'leaves are')} closed by caps and "
        f"{counted(len(leaves), 'leaf', 'leaves')} by multipliers."
    ]
    if splits:
        lines.append(
            f"The first node: {names[splits[0][0]]} takes up to {exact(splits[0][1])} cycles, or more than that."
        )
    if leaves:
        lines.append(
            "Multipliers: inequalities, each multiplied by a number >= 0, add up to a contradiction (lemma "
            "Multipliers). At the first such leaf: " + listed(_summed(leaves[0], names)) + "."
        )
    return lines


def _summed(leaf: Document, names: Sequence[str]) -> Iterator[str]:
    if leaf["pes"]:
        yield f"{exact(leaf['pes'])} times 'no more PEs than the limit'"
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
        f"If there are several runs, their cycles add up. There are potentials between the layers ({shown}). Each run "
        "takes at least the potential at its end minus the one at its start, so all runs together take at least the "
        "last potential minus the first (lemma Runs).",
    ]
    for first, end, least, tree in nodes["runs"][:MOST_TOLD]:
        said = "is impossible" if least is None else f"takes at least {exact(least)} cycles"
        lines.append(f"{names[first]} to {names[end - 1]} {said}: {counted(len(tree), 'node')}.")
    return lines
