"""How large an overlay is: DSP slices, block memories and LUTs (estimates compared with [Meng2021], Table 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from mapper.arch.overlay import OverlayMachine


@dataclass(frozen=True)
class OverlaySize:
    """Estimates of what an array of a shape takes."""

    dsps: int
    brams: int
    luts: int

    def to_json(self) -> dict[str, Any]:
        return {"dsps": self.dsps, "brams": self.brams, "luts": self.luts}


def overlay_size(array: tuple[int, int], machine: OverlayMachine) -> OverlaySize:
    """The size of an overlay: its PEs, its banks (P1 of inputs, P2 of kernels, two groups of outputs) and the rest."""
    rule, pes = machine.resource, math.prod(array)
    banks = sum(array) + 2 * max(array)
    return OverlaySize(
        pes * rule.dsps_per_pe + rule.other_dsps, banks * rule.brams_per_bank, pes * rule.luts_per_pe
    )


def most_lanes(machine: OverlayMachine) -> int:
    """The longest side that an array may have: DRAM reads and writes a word a lane at once, of as many lanes as the
    power of two that holds a side; no limit where no engines are counted."""
    if machine.engines is None or machine.bandwidth_gb_s is None:
        return machine.pes
    per_cycle = machine.units_per_cycle // machine.units_per_word
    return 1 << max(1, (per_cycle // 2).bit_length() - 1)


def fits(array: tuple[int, int], machine: OverlayMachine) -> bool:
    """Whether the machine can have an array of this shape."""
    small = math.prod(array) <= machine.pes and max(array) <= most_lanes(machine)
    return small and (
        not machine.resource.limits_shapes or overlay_size(array, machine).brams <= machine.resource.brams
    )
