"""What an action of a CGRA takes: energies of operations, words routed, register files, memory and configuration."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mapper.arch.part import Part

Energy = Annotated[float, Field(ge=0, le=1e9)]


class ActionEnergy(Part):
    """Energies of single actions in pJ, and the power in W that flows whatever happens.

    ``operation_pj``: in the unit of a PE, by opcode (``move`` too), else by class as in ``latency_cycles``, else
    nothing. ``routed_word_pj``: a word read from another PE's output register. ``register_access_pj``: a word read from
    or written to a register file. ``memory_access_pj``: a word loaded or stored. ``configuration_word_pj``: a PE's word
    read from, or written to, the configuration memory. ``vliw_cycle_pj``: a cycle of code that does not run on the
    array, its memory accesses aside. ``source``: where the numbers are from.
    """

    source: Annotated[str, Field(min_length=1, max_length=2000)]
    operation_pj: dict[str, Energy]
    routed_word_pj: Energy
    register_access_pj: Energy
    memory_access_pj: Energy
    configuration_word_pj: Energy
    vliw_cycle_pj: Energy
    static_w: Annotated[float, Field(ge=0, le=1e6)]
