"""The layer problem as a value: which algorithm, innermost loop and unroll factors take the fewest cycles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mapper.arch.cgra import CgraMachine
from mapper.models.modulo_schedule.network.algorithm import Algorithm
from mapper.models.modulo_schedule.network.baseline import baselines, in_registers
from mapper.models.modulo_schedule.network.way.layer import algorithms
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import NetworkLayer

MOST_UNROLL = 8
"""maxUF [Bae2018, sec. V-C2]."""


@dataclass(frozen=True)
class LayerProblem:
    """Run ``layer`` on ``machine`` in the fewest cycles: one of its algorithms, for every nest the loop that runs on
    the array, and boxes that cover the nest with an unroll factor of at most ``MOST_UNROLL`` per loop, each with a
    modulo schedule. ``algorithm`` pins the choice of that name, ``im2col`` who lays a convolution's input out: the
    ``driver`` in VLIW mode, or loops on the ``array``."""

    layer: NetworkLayer
    machine: CgraMachine
    algorithm: str | None = None
    im2col: str | None = None

    @cached_property
    def choices(self) -> tuple[Algorithm, ...]:
        """The algorithms that may be chosen, the paper's rule's first, those with sums in registers last."""
        known = algorithms(self.layer, self.machine)
        return tuple(
            choice
            for choice in (*known, *in_registers(known))
            if self.algorithm in (None, choice.name) and self.im2col in (None, choice.im2col)
        )

    @property
    def pinned(self) -> bool:
        """Whether a decision is: then no baseline will do."""
        return self.algorithm is not None or self.im2col is not None

    @cached_property
    def space(self) -> tuple[Algorithm, ...]:
        """The algorithms that a mapping may have: the choices and, where they are none of these by another name, the
        baselines, whose activations run in VLIW mode and whose sums may stay in registers. That is best where an
        output has a word or two."""
        if self.pinned:
            return self.choices
        known = [choice.nests for choice in self.choices]
        plain = baselines(self.layer, self.machine)
        own = {one.nests: one for one in reversed(plain) if one.nests not in known}
        return (*self.choices, *reversed(own.values()))

    def choice(self, name: str) -> Algorithm:
        """The algorithm called ``name``.

        Raises: InputError if the layer has no such algorithm.
        """
        for choice in (*self.choices, *baselines(self.layer, self.machine)):
            if choice.name == name:
                return choice
        known = ", ".join(choice.name for choice in self.choices)
        raise InputError(self.layer.name, "algorithm", f"{name[:40]!r} is not one of {known}")
