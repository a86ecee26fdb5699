"""What machines call tensors and loops, and what a workload calls them.

A machine speaks of weights ``W``, inputs ``I`` and outputs ``O``, and of a convolution's loops (``N K C P Q R S``). A
workload may name them otherwise: a written tensor is an output, a read one is an input unless it is the second, or is
called so; a loop has the role that its tensors give it.
"""

from __future__ import annotations

from functools import lru_cache

from mapper.arch.hierarchy import HierarchyMachine
from mapper.workloads.nest.loop_nest import LoopNest, Operand

WEIGHTS, INPUTS, OUTPUTS = "W", "I", "O"
LONG = {"Weights": WEIGHTS, "Inputs": INPUTS, "Outputs": OUTPUTS}


@lru_cache(maxsize=256)
def tensor_roles(nest: LoopNest) -> dict[str, str]:
    """The role of each tensor by its name."""
    roles: dict[str, str] = {}
    read = [operand for operand in nest.operands if not operand.writes]
    named = {operand.name: _named_role(operand) for operand in read}
    usual = [INPUTS, WEIGHTS] if not any(named.values()) else []
    for place, operand in enumerate(read):
        fallback = usual[place] if place < len(usual) else INPUTS
        roles[operand.name] = named[operand.name] or fallback
    return roles | {operand.name: OUTPUTS for operand in nest.operands if operand.writes}


def _named_role(operand: Operand) -> str | None:
    initial = operand.name[:1].upper()
    return initial if initial in (WEIGHTS, INPUTS) and operand.name in (initial, *LONG) else None


def tensors_called(nest: LoopNest, name: str) -> tuple[str, ...]:
    """The tensors that a machine calls ``name``: the one of that name, else those of the role; ``*`` is all."""
    names = tuple(operand.name for operand in nest.operands)
    if name == "*":
        return names
    if name in names:
        return (name,)
    role = LONG.get(name, name)
    roles = tensor_roles(nest)
    return tuple(one for one in names if roles[one] == role)


@lru_cache(maxsize=256)
def loop_roles(nest: LoopNest) -> dict[str, str]:
    """The role of each loop: ``K`` for loops that inputs lack, ``C R S`` for those that outputs lack (``R S`` within a
    window), ``N P Q`` for those that weights lack, and ``G`` for those that all have."""
    roles = tensor_roles(nest)
    sets: dict[str, set[str]] = {WEIGHTS: set(), INPUTS: set(), OUTPUTS: set()}
    windows: set[str] = set()
    for operand in nest.operands:
        sets[roles[operand.name]] |= operand.loops
        for index in operand.index:
            if len(index.coefficients) > 1:
                windows |= {loop for loop, _ in index.coefficients}
    found: dict[str, str] = {}
    filters, pixels = iter("RS"), iter("PQ")
    for loop in nest.loops:
        if loop not in sets[OUTPUTS]:
            found[loop] = next(filters, "C") if loop in windows else "C"
        elif loop not in sets[INPUTS]:
            found[loop] = "K"
        elif loop not in sets[WEIGHTS]:
            found[loop] = next(pixels, "N") if loop in windows else "N"
        else:
            found[loop] = "G"
    return found


def loops_called(nest: LoopNest, name: str) -> tuple[str, ...]:
    """The loops that a mapping or a pin calls ``name``: the one of that name, else those of the role (``M`` is
    ``K``)."""
    return (name,) if name in nest.loops else _of_role(nest, name)


def loops_meant(nest: LoopNest, machine: HierarchyMachine, name: str) -> tuple[str, ...]:
    """The loops that a machine calls ``name``. If it names loops of the nest and no others, it means these; else it
    speaks of roles, so that the ``K`` of a machine for convolutions is not the ``K`` over which a product is summed."""
    if machine.loop_names <= set(nest.loops):
        return (name,)
    return _of_role(nest, name) or loops_called(nest, name)


def _of_role(nest: LoopNest, name: str) -> tuple[str, ...]:
    role = "K" if name == "M" else name
    return tuple(loop for loop, own in loop_roles(nest).items() if own == role)
