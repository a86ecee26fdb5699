"""A mapped nest as a C program that checks itself against the nest as written."""

from __future__ import annotations

from mapper.arch.hierarchy import HierarchyMachine
from mapper.codegen.hierarchy.mapped import mapped_source
from mapper.codegen.hierarchy.plan import Plan, plan_of
from mapper.codegen.tiling.main_source import main_source
from mapper.codegen.tiling.nest_source import MAKEFILE, declarations, reference_source
from mapper.codegen.tiling.text import Writer, check_names
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.models.hierarchy.one_line import line_of
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.text.plain_text import ascii_comment

MOST_WORDS = 1 << 27
"""Words that all buffers may have together."""


def generate_c(
    nest: LoopNest, machine: HierarchyMachine, mapping: HierarchyMapping, seed: int = 0
) -> dict[str, str]:
    """The mapped nest as C11: file names and their text.

    ``mapped.c`` holds the loops of every level with a buffer for each tensor that the level keeps, ``reference.c`` the
    nest as written; ``main.c`` fills the tensors with seeded integers from -8 to 7, runs both and compares them word by
    word. It prints a checksum (the sum of words times their position from 1, modulo 2^64) with ``OK`` or ``MISMATCH``
    and returns 0 or 1. Tensors that are only read are ``int32_t``, the written one is ``int64_t`` modulo 2^64.

    Where the mapping pads loops, tensors are allocated as far as they then reach, with zeros beyond what the nest as
    written has of them; that part alone is filled, computed by the reference and compared.

    Raises: InputError if a name is none in C, or buffers are too large.
    """
    check_names(nest)
    plan = plan_of(nest.padded(dict(mapping.padded)), mapping)
    words = sum(buffer.words for kept in plan.buffers for buffer in kept.buffers)
    if words > MOST_WORDS:
        remedy = f"its buffers have {words} words, more than {MOST_WORDS}; generate a smaller layer"
        raise InputError("generate", nest.name, remedy)
    return {
        "nest.h": _header(plan, machine, mapping),
        "mapped.c": mapped_source(plan, [level.name for level in machine.levels]),
        "reference.c": reference_source(plan, nest),
        "main.c": main_source(plan, nest, seed, on_array=False),
        "Makefile": MAKEFILE,
    }


def _header(plan: Plan, machine: HierarchyMachine, mapping: HierarchyMapping) -> str:
    writer = Writer()
    writer.line(f"/* {ascii_comment(plan.nest.name)} on {ascii_comment(machine.name)}")
    for part in line_of(mapping, plan.nest).split(" - "):
        writer.line(f" * {ascii_comment(part)}")
    for loop, bound in mapping.padded:
        writer.line(f" * {loop} runs to {bound}, over its end, on words that are zero.")
    writer.line(" */")
    declarations(writer, plan, ("mapped_nest", "reference_nest"))
    return writer.text()
