"""Certificates in words: what is proven and why, or what is not."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mapper.cli.terminal import number, percent
from mapper.solver.certificate import Certificate

SPACES = {
    "tiling": (
        "all factors of every loop at the four levels (DRAM, scratch-pad, register file, space) that multiply to its "
        "bound, with every order of the loops at DRAM and at the scratch-pad, as far as tiles fit the memories and PEs"
    ),
    "modulo_schedule": (
        "every place and cycle of every operation with every route of its values, at every initiation interval"
    ),
    "layer": (
        "every algorithm of the layer, every loop that may be innermost, every unroll vector of up to 8 per loop, and "
        "every schedule of the loops that follow"
    ),
    "pe_allocation": "every number of PEs for every layer, under the model of rates and start times that model= names",
    "algorithm_selection": (
        "every shape of the array within its PEs, with every algorithm and dataflow of every layer and every format of "
        "the tensors between them"
    ),
    "pbqp": "every choice for every vertex",
    "trace_partition": (
        "every tile, order, mode and split of every layer, and what stays on the chip between layers, all decided "
        "together under the model of cycles"
    ),
}
"""The spaces that a proof speaks of, as the documentation of the kinds defines them."""

REASONS: dict[tuple[str | None, str], str] = {
    (None, "brute-force"): "every one of them was tried",
    (None, "cp-sat"): "CP-SAT has excluded every better one",
    (None, "branch-and-bound"): (
        "branch and bound went through all of it and left out only parts whose lower bound is no better than the value"
    ),
    (None, "elimination"): "elimination finds the least cost of all assignments exactly",
    (None, "ilp"): "the integer linear program was solved to the end and its answer confirmed in integers",
    (None, "closed form"): "it has a closed form",
    (
        None,
        "dynamic-programming",
    ): "a shortest path through the layers' options is exact for a chain of layers",
    ("modulo_schedule", "cp-sat"): "CP-SAT has refuted every smaller initiation interval from MII on",
    (
        "layer",
        "*",
    ): "the least sum over all unroll vectors of all boxes, by dynamic programming, is its value",
    ("algorithm_selection", "auto"): (
        "a lower bound of every shape is known, and the cost graphs of all shapes whose bound is below the value were "
        "solved exactly by elimination"
    ),
    ("algorithm_selection", "joint"): (
        "a lower bound of every shape is known, and the cost graphs of all shapes whose bound is below the value were "
        "solved exactly by elimination"
    ),
    (
        "pbqp",
        "auto",
    ): "reductions and elimination, or branch and bound, have excluded every cheaper assignment",
    ("trace_partition", "auto"): (
        "options that were not costed have lower bounds that are no better, and CP-SAT decided all the others jointly"
    ),
    ("trace_partition", "cp-sat"): (
        "options that were not costed have lower bounds that are no better, and CP-SAT decided all the others jointly"
    ),
}
STOPS = {
    "complete": "the search ended by itself",
    "time_limit": "the time limit ended the search",
    "interrupted": "the search was interrupted",
    "heuristic": "a heuristic ended, which proves nothing by itself",
    "given": "the mapping was given, not searched for",
}


@dataclass(frozen=True)
class Words:
    """A certificate in words: ``tone`` is ``good`` (proven), ``open`` or ``bad`` (rejected, no mapping)."""

    tone: str
    headline: str
    sentences: tuple[str, ...]


def words(
    kind: str, certificate: Certificate, objective: str, mii: int | None = None, why: str | None = None
) -> Words:
    """What ``certificate`` says of a problem of ``kind`` (a kind's name, ``layer`` or ``pbqp``). ``mii``: the bound by
    argument on an initiation interval; ``why``: why there is no mapping."""
    space = SPACES[kind]
    said: list[str] = []
    if certificate.broken:
        rules = ", ".join(f"{one.rule} at {one.place} by {one.size:g}" for one in certificate.broken[:8])
        tone, headline = "bad", "Rejected: the mapping breaks rules of the problem."
        said.append(f"Broken: {rules}.")
    elif not certificate.found and certificate.proven:
        tone, headline = "bad", "Proven: this problem has no mapping."
        said.append(f"{_sentence(why)}" if why else f"None exists in the space: {space}.")
    elif not certificate.found:
        tone, headline = "bad", "No mapping was found, and nothing is proven: there may be one."
        said.append(f"The space: {space}.")
    elif certificate.proven:
        reason = _reason(kind, certificate, mii)
        tone, headline = "good", f"Proven: no mapping of this space is better, because {reason}."
        said.append(f"The space: {space}.")
    else:
        tone, headline = "open", "Not proven: a better mapping may exist."
        said += [f"The space: {space}.", _open(certificate)]
    if certificate.found:
        said.append(_figures(certificate, objective))
    if certificate.restrictions:
        left = "; ".join(certificate.restrictions)
        met = " The bound holds without them and meets the value." if certificate.proven else ""
        said.append(f"The method left out: {left}.{met}")
    said.append(f"Why the search stopped: {STOPS[certificate.stop]}.")
    if certificate.found and certificate.verified:
        said.append(
            "The referee, which shares no code with the search, found every rule kept, and the model computed the cost "
            "anew for this page."
        )
    return Words(tone, headline, tuple(said))


def _reason(kind: str, certificate: Certificate, mii: int | None) -> str:
    if mii is not None and certificate.value == mii:
        return (
            f"its initiation interval is MII = max(ResMII, RecMII) = {mii}, below which this loop has no schedule "
            "on this machine"
        )
    for name in (*re.split(r" \+ | ", certificate.method), certificate.method, "*"):
        found = REASONS.get((kind, name)) or REASONS.get((None, name))
        if found is not None:
            return found
    return f"its value equals a bound that holds for the whole problem ({certificate.method})"


def _open(certificate: Certificate) -> str:
    if certificate.bound is None:
        return "No bound is known."
    known = f"No mapping is better than the bound {number(certificate.bound)}"
    if certificate.gap:
        return f"{known}, so that at most {percent(certificate.gap)} of the value could be gained."
    return f"{known}."


def _figures(certificate: Certificate, objective: str) -> str:
    bound = "no bound" if certificate.bound is None else f"bound {number(certificate.bound)}"
    gap = "" if certificate.gap is None else f", gap {percent(certificate.gap)}"
    often = certificate.evaluations
    counted = "" if often is None else f", {often:,} evaluation{'' if often == 1 else 's'}"
    return (
        f"Objective {objective}: value {number(certificate.value)}, {bound}{gap}; found by {certificate.method} in "
        f"{certificate.seconds:.2f} s ({certificate.cpu_seconds:.2f} s of processor time{counted})."
    )


def _sentence(text: str | None) -> str:
    clean = (text or "").strip().rstrip(".")
    return f"{clean[:1].upper()}{clean[1:]}."
