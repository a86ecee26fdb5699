"""Dave et al. 2019, dMazeRunner [Dave2019]: Figs. 7 and 12 against the numbers that the authors published with them."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bench.measure import layer_problems
from bench.tiling.memory_sweep import LAYERS, RF_BYTES, SPM_BYTES
from docs.papers.row import Found, Row, beside
from mapper.formulations.tiling.problem import Pins, TilingProblem
from mapper.models.tiling.mapping import LEVELS
from mapper.solver.method import Effort
from mapper.solver.tiling.exact.branch_and_bound import branch_and_bound, count_tilings
from mapper.solver.tiling.exact.pruning import pruning_of

LOOPS = ("N", "M", "C", "Ox", "Oy", "Fx", "Fy")
SAME = 1e-14
"""Share by which two EDPs may differ that are the same: the sheets hold 16 digits."""
STRIDED = "a strided layer: the sheet's values come from an older burst rule that is not public"
COSTS = (
    "for an unknown reason: the sheets' counts of tilings are the same, so it is the cost, not the space; where "
    "figures of the public tool are known (512 B, 128 kB) they agree"
)


@cache
def public() -> dict[str, Any]:
    """The authors' numbers."""
    found: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return found


def energies() -> Found:
    """Fig. 7: the least energy, over all orders, of 21 tilings of conv5_2 that Yang et al. chose."""
    posed = layer_problems("energy")["conv5_2"]
    rows, differences = [], {}
    for entry in public()["fig_7"]:
        pinned = {
            f"{loop}.{level}": str(factor)
            for level in LEVELS
            for loop, factor in zip(LOOPS, entry[level], strict=True)
        }
        problem = TilingProblem(posed.nest, posed.machine, "energy", Pins.parse(pinned, posed.nest))
        energy = branch_and_bound(problem, Effort()).value
        assert energy is not None
        differences[entry["name"]] = 100 * abs(energy - entry["yang"]) / entry["yang"]
        rows.append(
            Row("Fig. 7, authors' sheet", f"energy of {entry['name']}", entry["dmazerunner"], "pJ", energy)
        )
    mean = sum(differences.values()) / len(differences)
    least, most = differences["Ox|Oy"], differences["M|Fy"]
    return Found(
        (
            Row("Fig. 7", "difference of energies, mean of 21 mechanisms", Decimal("4.19"), "%", mean),
            Row("Fig. 7", "difference of energies, Oy|Ox", Decimal("0.3"), "%", least),
            Row("Fig. 7", "difference of energies, M|Fx", 14, "%", most),
            *rows,
        )
    )


def designs() -> Found:
    """Fig. 12: tilings and least EDP under OPT 1 to 3 of every layer on every one of 49 designs."""
    rows = []
    pruning = pruning_of(True, True, True)
    for name, posed in layer_problems("edp").items():
        sheet = public()["fig_12"][name]
        tilings = edps = 0
        for spm, said, counted in zip(SPM_BYTES, sheet["edp"], sheet["tilings"], strict=True):
            for rf, edp, count in zip(RF_BYTES, said, counted, strict=True):
                machine = posed.machine.model_copy(
                    update={
                        "rf": posed.machine.rf.model_copy(update={"bytes": rf}),
                        "spm": posed.machine.spm.model_copy(update={"bytes": spm}),
                    }
                )
                problem = TilingProblem(posed.nest, machine, "edp")
                found = branch_and_bound(problem, Effort(), pruning).value
                tilings += count_tilings(problem, pruning) == count
                edps += _same(edp, found)
        of = f"of {len(SPM_BYTES) * len(RF_BYTES)}"
        place, why = "Fig. 12, authors' sheets", STRIDED if name in ("conv1", "conv5_1") else COSTS
        rows.append(Row(place, f"designs with as many tilings, {name}", 49, of, tilings))
        rows.append(beside(place, f"designs with the same least EDP, {name}", 49, of, edps, why))
    assert {*LAYERS} == {*public()["fig_12"]}
    return Found(tuple(rows))


def _same(said: float | None, found: float | None) -> bool:
    """Whether two EDPs are the same, None where nothing fits."""
    if said is None or found is None:
        return said is found
    return abs(found - said) <= SAME * said
