"""The referee of assignments: whether every vertex has one of its choices and no infinite cost is paid."""

from __future__ import annotations

import math

import numpy as np

from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.formulations.verdict import BrokenRule, Verdict
from mapper.models.pbqp.mapping import PbqpAssignment
from mapper.workloads.pbqp.instance import INFINITE, Cost, PbqpInstance

CHOSEN = "every vertex has one of its choices"
PINNED = "pinned vertices have the choice that is given"
FINITE = "no chosen cost is infinite"
MOST_NAMED = 100
"""Broken rules that are named; the size of the last says how many more there are."""


def verify(problem: PbqpProblem, assignment: PbqpAssignment) -> Verdict[Cost]:
    """Judge an assignment from the definition alone [Meng2021, Eq. 8]; the value is summed by the model."""
    instance = problem.instance
    if len(assignment.choice) != instance.vertices:
        size = abs(len(assignment.choice) - instance.vertices)
        return Verdict((BrokenRule(CHOSEN, "choice", size),), None)
    chosen = np.array(assignment.choice, object)
    counts = instance.choices.astype(object)
    wrong = np.flatnonzero((chosen < 0) | (chosen >= counts))
    if len(wrong):
        rules = [
            BrokenRule(CHOSEN, f"vertex {at}", int(max(-chosen[at], chosen[at] - counts[at] + 1)))
            for at in wrong
        ]
        return Verdict(_named(rules), None)
    rules = [
        BrokenRule(PINNED, f"vertex {vertex}", abs(assignment.choice[vertex] - choice))
        for vertex, choice in problem.pins
        if assignment.choice[vertex] != choice
    ]
    forbidden = _infinite(instance, assignment.choice)
    return Verdict(_named([*rules, *forbidden]), None if forbidden else instance.value(assignment.choice))


def _infinite(instance: PbqpInstance, choice: tuple[int, ...]) -> list[BrokenRule]:
    """The places that cost infinitely much, found by looking up one cost after another."""
    infinite = INFINITE if instance.vertex_cost.dtype == np.int64 else math.inf
    starts, own = instance.vertex_offset.tolist(), instance.vertex_cost
    found = [
        BrokenRule(FINITE, f"vertex {vertex}", 1)
        for vertex, at in enumerate(choice)
        if own[starts[vertex] + at] == infinite
    ]
    places, paid = instance.edge_offset.tolist(), instance.edge_cost
    for edge, (u, v) in enumerate(instance.edge_end.tolist()):
        width = starts[v + 1] - starts[v]
        if paid[places[edge] + choice[u] * width + choice[v]] == infinite:
            found.append(BrokenRule(FINITE, f"edge {u} {v}", 1))
    return found


def _named(rules: list[BrokenRule]) -> tuple[BrokenRule, ...]:
    if len(rules) <= MOST_NAMED:
        return tuple(rules)
    kept, rest = rules[: MOST_NAMED - 1], rules[MOST_NAMED - 1 :]
    return (*kept, BrokenRule(rest[0].rule, f"{rest[0].place} and others", len(rest)))
