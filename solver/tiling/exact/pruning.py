"""The paper's heuristic pruning of the tiling space, OPT 1 to 3 [Dave2019, sec. 4.2.3]."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pruning:
    """What a restricted search leaves out. Utilisations are fractions of PEs, register file and visible
    scratch-pad that a tiling must at least take."""

    pe_utilisation: float = 0.0
    rf_utilisation: float = 0.0
    spm_utilisation: float = 0.0
    window_loops_whole: bool = False
    no_spatial_reduction: bool = False

    @property
    def restrictions(self) -> tuple[str, ...]:
        """The restrictions in words, as a certificate names them."""
        named = []
        if self.pe_utilisation or self.rf_utilisation or self.spm_utilisation:
            named.append(
                f"OPT1: at least {self.pe_utilisation:.0%} of PEs, {self.rf_utilisation:.0%} of register files, "
                f"{self.spm_utilisation:.0%} of scratch-pad used"
            )
        if self.window_loops_whole:
            named.append("OPT2: no window loop at DRAM")
        if self.no_spatial_reduction:
            named.append("OPT3: no reduction between PEs")
        return tuple(named)


NO_PRUNING = Pruning()


def pruning_of(opt1: bool, opt2: bool, opt3: bool) -> Pruning:
    """The paper's thresholds [Dave2019, sec. 6.3]: 80 % of PEs and register files, 50 % of the scratch-pad."""
    utilisation = (0.8, 0.8, 0.5) if opt1 else (0.0, 0.0, 0.0)
    return Pruning(*utilisation, window_loops_whole=opt2, no_spatial_reduction=opt3)
