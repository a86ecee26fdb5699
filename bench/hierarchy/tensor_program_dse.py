"""Two examples of natetyoung/tensor-program-dse, as machines of a hierarchy.

The first is a product of 4096 x 65536 by 65536 x 4096 on two levels of memory.

Its program (`cb_einsum_ml`, capacities 4096 and 524288 words, an access of any memory costs 1, loops may run over their
ends) gives every tensor at every level a place of its own in one order of loads and stores, and does not let partial
sums leave the innermost level. Two values are known of it: 140,694,749,184 without and 4,538,724,483,072 with the
accesses of the units.

Here each of these places is a level of a machine. The order of places, and how the 4096 words are shared out (63 rows
of 64 sums, a row of 63 words, a word), are those of its best schedule; factors and orders of loops are free, and the
value is proven for them. A sum that leaves a place is read there and added outside, which is an update of 2.

The second is its example of EDP, a projection of attention on a machine of 4 x 128 x 128 units and three levels; there
the program ends at its limit with a bound of about 40 % of its value. An operation takes 16,384 units of its time,
which are a cycle here. Loops divide their bounds, and levels have the same loops for all tensors, which its order of
places within a level does not ask for.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from bench.measure import measure, show
from mapper.arch.hierarchy import HierarchyMachine, hierarchy_from_document
from mapper.formulations.hierarchy.problem import HierarchyProblem, Pins
from mapper.solver.hierarchy.catalogue import METHODS
from mapper.solver.method import Effort
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document

KNOWN = {"without": 140_694_749_184, "with": 4_538_724_483_072}
PADDED = (("n", 66 * 63),)
PLACES = (("L1_C", 524288, "C"), ("L0_C", 64 * 63, "C"), ("L1_B", 524288, "B"), ("L0_B", 63, "B"),
          ("L1_A", 524288, "A"), ("L0_A", 1, "A"))  # fmt: skip
"""Places inside DRAM, outer to inner: words, and the tensor that each keeps."""


def _nest(name: str, loops: dict[str, int], tensors: dict[str, list[str]], written: str) -> LoopNest:
    operands = [
        {"tensor": tensor, "index": index, "access": "read_write" if tensor == written else "read"}
        for tensor, index in tensors.items()
    ]
    return nest_from_document(
        {"schema": "mapper.nest/1", "name": name, "loops": loops, "operands": operands}, name
    )


def nest() -> LoopNest:
    tensors = {"A": ["m", "k"], "B": ["k", "n"], "C": ["m", "n"]}
    return _nest("product", {"m": 4096, "k": 65536, "n": 4096}, tensors, "C")


def machine() -> HierarchyMachine:
    """A level for DRAM and for each place; no loop in space, and none that adds up sums outside the innermost place."""
    outer = {"read": 1, "fill": 1, "update": 2}
    levels: list[dict[str, Any]] = [{"name": "DRAM", "keep": ["*"], "energy_pj": outer}]
    for name, words, tensor in PLACES:
        # What units do with sums of the innermost place is a read and an update of 1 each.
        energy = outer | ({"update": 1} if name == "L0_C" else {})
        others = [one for one in "ABC" if one != tensor]
        levels.append({"name": name, "words": words, "keep": [tensor], "bypass": others, "energy_pj": energy})
    outside = [{"level": name, "kind": "temporal", "factors": {"k": 1}} for name in ("DRAM", "L1_C")]
    return hierarchy_from_document(
        {
            "schema": "mapper.hierarchy/1",
            "name": "two levels",
            "levels": levels,
            "compute": {"energy_pj": 0},
            "constraints": outside,
        },
        "two levels",
    )


def projection() -> LoopNest:
    tensors = {"I": ["b", "m", "d"], "WQ": ["h", "e", "d"], "Q": ["b", "m", "h", "e"]}
    return _nest("projection", {"b": 64, "m": 65536, "h": 32, "e": 128, "d": 4096}, tensors, "Q")


def attention_machine() -> HierarchyMachine:
    """Its machine: sums that leave a level are read there, and written outside."""
    cycle = 16384
    dram = {"read": 83, "fill": 83, "update": 83 + 22}
    inner = {"read": 22, "fill": 28, "update": 28 + 3}
    array = {"x": 128, "y": 128, "x_loops": ["h", "e"], "y_loops": ["d"]}
    return hierarchy_from_document(
        {
            "schema": "mapper.hierarchy/1",
            "name": "attention",
            "levels": [
                {
                    "name": "DRAM",
                    "keep": ["*"],
                    "energy_pj": dram,
                    "bandwidth": {"read": cycle / 3, "write": cycle / 3},
                },
                {
                    "name": "L2",
                    "words": 128 << 20,
                    "keep": ["*"],
                    "energy_pj": inner,
                    "bandwidth": {"read": cycle, "write": cycle / 2},
                    "fanout": {"x": 4, "x_loops": ["b", "m", "h", "e"], "reduction": False},
                },
                {
                    "name": "L1",
                    "words": 4 << 20,
                    "keep": ["I", "Q"],
                    "bypass": ["WQ"],
                    "energy_pj": {"read": 3, "fill": 3, "update": 3},
                    "fanout": array,
                },
                {
                    "name": "L0",
                    "words": 1,
                    "keep": ["WQ"],
                    "bypass": ["I", "Q"],
                    "energy_pj": {"read": 0, "fill": 0, "update": 0},
                },
            ],
            "compute": {"energy_pj": 1},
            "rules": {"link_transfers": False},
        },
        "attention",
    )


def main() -> int:
    """Exit code 1 if a value differs."""
    problem = HierarchyProblem(nest(), machine(), "energy", Pins(padded=PADDED))
    search = METHODS["branch-and-bound"].search
    found = measure(lambda: search(problem, Effort(time.monotonic() + 60.0)))
    value = round(found.result.value or 0)
    # Units work on what is padded here; there they do not: per operation two reads, and a sum read and written.
    padded = 66 * 63 * 4096 * 65536
    own = 4 * padded - 4096 * 66 * 63
    real = 4 * 4096 * 4096 * 65536 - 4096 * 4096
    values = {"without": value - own, "with": value - own + real}
    lines = [
        (
            f"{name} accesses of units",
            f"{known:,}",
            f"{values[name]:,}",
            str(found.result.proven),
            f"{found.cpu:.2f}",
        )
        for name, known in KNOWN.items()
    ]
    show("tensor-program-dse's product", ("energy", "known", "here", "proven", "CPU s"), lines)
    posed = HierarchyProblem(projection(), attention_machine(), "edp", Pins())
    second = measure(lambda: METHODS["auto"].search(posed, Effort(time.monotonic() + 60.0)))
    result = second.result
    shown = [f"{one:.6e}" if one is not None else "none" for one in (result.value, result.bound)]
    show(
        "its example of EDP, in pJ and cycles",
        ("least EDP", "bound", "proven", "CPU s"),
        [(*shown, str(result.proven), f"{second.cpu:.2f}")],
    )
    return 0 if values == KNOWN else 1


if __name__ == "__main__":
    sys.exit(main())
