"""Several files of one machine: Timeloop's, or a preset or document of this project with Timeloop's constraints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mapper.arch.hierarchy import HierarchyMachine, hierarchy_from_document
from mapper.arch.timeloop.document import is_timeloop_machine, join_files
from mapper.arch.timeloop.machine import apply_entries, file_entries, machine_of
from mapper.workloads.document import LARGEST_DOCUMENT_BYTES, InputError, decoded, is_file, read_bytes
from mapper.workloads.network.network import InputFile

if TYPE_CHECKING:
    from mapper.arch.source import Machine

Loaded = tuple["Machine", tuple[InputFile, ...]]


def joined_machine(parts: list[str], load: Callable[[str], Loaded]) -> Loaded:
    """The machine of these files; ``load`` reads a machine of this project.

    Raises: InputError if they are no one machine.
    """
    foreign: list[str] = []
    own: list[str] = []
    for part in parts:
        (foreign if _is_foreign(part) else own).append(part)
    roots, inputs = join_files(foreign)
    name = Path(foreign[0]).name if foreign else ""
    if not own:
        return machine_of(roots, name), inputs
    if len(own) > 1:
        raise InputError("--arch", own[1], f"is a machine as {own[0]} is; join one with Timeloop's files")
    machine, files = load(own[0])
    if not isinstance(machine, HierarchyMachine):
        raise InputError(
            "--arch", own[0], "is no memory hierarchy; only such machines take Timeloop's constraints"
        )
    others = sorted(set(roots) - {"constraints"})
    if others:
        raise InputError(roots[others[0]][0], others[0], f"{own[0]} has its own; join constraints alone")
    document = machine.model_dump(mode="json", by_alias=True)
    known = {level.name: level.name for level in machine.levels}
    document["constraints"] += apply_entries(document["levels"], file_entries(roots, known))
    return hierarchy_from_document(document, own[0]), (*files, *inputs)


def _is_foreign(part: str) -> bool:
    path = Path(part)
    return is_file(path) and is_timeloop_machine(decoded(read_bytes(path, LARGEST_DOCUMENT_BYTES), part))
