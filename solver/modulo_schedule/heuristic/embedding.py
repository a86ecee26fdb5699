"""Schedules of a small array on a larger one that contains it: why a larger mesh is never worse."""

from __future__ import annotations

from dataclasses import replace

from mapper.arch.cgra import CgraMachine, RegisterFile, SharedRegisterFile
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Pe
from mapper.workloads.document import InputError

_File = RegisterFile | SharedRegisterFile


def contains(small: CgraMachine, large: CgraMachine, offset: Pe = (0, 0)) -> bool:
    """Whether every schedule of ``small`` is one of ``large`` when its PEs are shifted by ``offset``: all
    units, links, registers and ports are there, and the latencies are the same."""
    if any(not fits for fits in _limits(small, large)):
        return False
    if not large.sharing >= {_shifted(pe, offset) for pe in small.sharing}:
        return False
    for pe in small.all_pes:
        shifted = _shifted(pe, offset)
        if shifted not in large.readers or not all(
            kind in large.abilities[shifted] or "any" in large.abilities[shifted]
            for kind in small.abilities[pe]
        ):
            return False
        if not large.readers[shifted] >= {_shifted(reader, offset) for reader in small.readers[pe]}:
            return False
    return True


def embed(
    schedule: ModuloSchedule, small: CgraMachine, large: CgraMachine, offset: Pe = (0, 0)
) -> ModuloSchedule:
    """``schedule`` of ``small`` as a schedule of ``large``, its PEs shifted by ``offset`` rows and columns.

    Raises: InputError if ``large`` does not contain ``small`` there.
    """
    if not contains(small, large, offset):
        raise InputError(large.name, "links", f"{small.name} is not a part of it at {list(offset)}")
    beyond = large.register_file.registers - small.register_file.registers

    def moved(hop: Hop) -> Hop:
        shared = hop.register is not None and small.is_shared(hop.register)
        register = (hop.register or 0) + beyond if shared else hop.register
        return replace(hop, pe=_shifted(hop.pe, offset), register=register)

    placements = tuple(replace(placed, pe=_shifted(placed.pe, offset)) for placed in schedule.placements)
    routes = tuple(replace(route, hops=tuple(moved(hop) for hop in route.hops)) for route in schedule.routes)
    return ModuloSchedule(schedule.ii, placements, routes)


def corners(machine: CgraMachine) -> list[CgraMachine]:
    """The arrays of fewer rows or columns at the first corner of ``machine``, the most PEs first; a torus is
    left open. Every one of them is contained in it."""
    sizes = [(rows + 1, columns + 1) for rows in range(machine.rows) for columns in range(machine.columns)]
    sizes.sort(key=lambda size: (-size[0] * size[1], abs(size[0] - size[1]), size))
    return [_corner(machine, *size) for size in sizes[1:]]


def _corner(machine: CgraMachine, rows: int, columns: int) -> CgraMachine:
    links: list[object] = []
    for link in machine.links:
        if isinstance(link, str):
            links.append("mesh" if link == "torus" else link)
        elif all(pe[0] < rows and pe[1] < columns for pe in link):
            links.append(link)
    groups = [
        {
            "at": "all" if group.at == "all" else [pe for pe in group.at if pe[0] < rows and pe[1] < columns],
            "classes": group.classes,
        }
        for group in machine.pes
    ]
    shared = machine.shared_register_file
    if shared is not None and shared.at != "all":
        part = [pe for pe in shared.at if pe[0] < rows and pe[1] < columns]
        shared = shared.model_copy(update={"at": part}) if part else None
    size = {"name": f"{rows}x{columns} of {machine.name}"[:64], "rows": rows, "columns": columns}
    fields = machine.model_dump(by_alias=True) | size | {"links": links, "pes": groups}
    fields["shared_register_file"] = None if shared is None else shared.model_dump()
    return CgraMachine.model_validate(fields)


def _shifted(pe: Pe, offset: Pe) -> Pe:
    return pe[0] + offset[0], pe[1] + offset[1]


def _limits(small: CgraMachine, large: CgraMachine) -> tuple[bool, ...]:
    """What holds for all PEs alike: latencies, registers, ports; None is no limit."""
    files: list[tuple[_File, _File]] = [(small.register_file, large.register_file)]
    if small.shared_register_file is not None:
        if large.shared_register_file is None:
            return (False,)
        files.append((small.shared_register_file, large.shared_register_file))
    pairs = [(small.memory_ports, large.memory_ports)]
    for ours, theirs in files:
        pairs += [(ours.read_ports, theirs.read_ports), (ours.write_ports, theirs.write_ports)]
    enough = [more is None or (less is not None and more >= less) for less, more in pairs]
    enough += [theirs.registers >= ours.registers for ours, theirs in files]
    return (small.latency_cycles == large.latency_cycles, *enough)
