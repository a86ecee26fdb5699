"""A kind as small as one can be, through all doors: which jobs go to which worker of a machine, so that the most worth
is done within the cycles that the workers have (several knapsacks).

The how-to in ``docs/how-to/add-a-formulation.md`` goes through these files; what stands side by side here has a floor
of its own in the house.
"""

from __future__ import annotations

from mapper.formulations.objective import Objective
from mapper.kind import Entry

WORTH = Objective("worth", "points", "most")
ENTRY = Entry(
    "tests.mapper.toy_kind",
    "packing",
    "toy.packing/1",
    (WORTH,),
    "PACKING",
    "tests.mapper.toy_kind.machine:machine_from_document",
)
"""The one line of registration."""
