"""Certificates in words: what is proven and why, or what is not."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mapper.kind.cell import number, percent
from mapper.kind.words import ProofWords
from mapper.solver.certificate import Certificate

REASONS = {
    "brute-force": "every one of them was tried",
    "cp-sat": "CP-SAT has excluded every better one",
    "bounded-table": "floors of tabulated tiles exclude most of them, and CP-SAT every better one of the rest",
    "branch-and-bound": (
        "branch and bound searched all of it, except for parts whose lower bound is no better than the value"
    ),
    "elimination": "elimination computes the least cost of all assignments exactly",
    "ilp": "the integer linear program was solved to the end and its answer confirmed in integers",
    "closed form": "its value is given by a closed form",
    "dynamic-programming": "a shortest path through the layers' options is exact for a chain of layers",
}
"""Why a proof holds, by the method that made it, where the kind itself does not say."""
PROVEN = {
    "certified": "Certified (a checker accepted the proof)",
    "solver": "Proven by solver",
    "bounded": "Bounded",
    "none": "Not proven",
}
"""How a headline begins, by what stands for the claim."""
STOPS = {
    "complete": "the search ended by itself",
    "time_limit": "the time limit ended the search",
    "interrupted": "the search was interrupted",
    "heuristic": "a heuristic ended, which proves nothing by itself",
    "given": "the mapping was given; there was no search",
}


@dataclass(frozen=True)
class Words:
    """A certificate in words: ``tone`` is ``good`` (proven), ``open`` or ``bad`` (rejected, no mapping)."""

    tone: str
    headline: str
    sentences: tuple[str, ...]


def words(own: ProofWords, certificate: Certificate, objective: str, why: str | None = None) -> Words:
    """What ``certificate`` says of a part, of whose proofs its kind says ``own``. ``why``: why there is no mapping."""
    space = own.space
    said: list[str] = []
    if certificate.broken:
        rules = ", ".join(f"{one.rule} at {one.place} by {one.size:g}" for one in certificate.broken[:8])
        tone, headline = "bad", "Rejected: the mapping breaks rules of the problem."
        said.append(f"Broken: {rules}.")
    elif not certificate.found and certificate.proven:
        tone, headline = "bad", f"{PROVEN[certificate.evidence]}: this problem has no mapping."
        said.append(f"{_sentence(why)}" if why else f"No mapping exists in this space: {space}.")
    elif not certificate.found:
        tone, headline = "bad", "No mapping was found, and nothing is proven. There may still be one."
        said.append(f"The space: {space}.")
    elif certificate.proven:
        reason = _reason(own, certificate)
        tone, headline = (
            "good",
            f"{PROVEN[certificate.evidence]}: no mapping of this space is better, because {reason}.",
        )
        said.append(f"The space: {space}.")
    else:
        tone, headline = "open", f"{PROVEN[certificate.evidence]}: a better mapping may exist."
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
            "The referee, which shares no code with the search, found that every rule is kept, and the model computed "
            "the cost again for this page."
        )
    return Words(tone, headline, tuple(said))


def _reason(own: ProofWords, certificate: Certificate) -> str:
    if own.reached is not None:
        return own.reached
    for name in (*re.split(r" \+ | ", certificate.method), certificate.method, "*"):
        found = own.reasons.get(name) or REASONS.get(name)
        if found is not None:
            return found
    return f"its value equals a bound that holds for the whole problem ({certificate.method})"


def _open(certificate: Certificate) -> str:
    if certificate.bound is None:
        return "No bound is known."
    known = f"No mapping is better than the bound {number(certificate.bound)}"
    if certificate.gap:
        return f"{known}, so at most {percent(certificate.gap)} of the value could still be gained."
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
