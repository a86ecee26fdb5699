"""Coarse-grained reconfigurable arrays: PEs with links, register files and memory ports [Bae2018, sec. II-A].

A PE executes one operation or one move a cycle. An operation issued at t with latency L can be read from the
PE's output register from t + L on, and, if it also writes one of the PE's registers, from there; what is
overwritten in a cycle can still be read in that cycle. A PE reads its own registers, its own output register
and those of the PEs that have a link to it. A move takes one cycle. Registers do not rotate and a kernel is II
words per PE, so a register holds a value for II cycles at the most.

An array may have a shared register file beside those of the PEs. The PEs that are connected to it write a result,
that of a move too, into one of its registers as into an own one, and all of them can read it. Own registers are
numbered from 0, and shared ones on from the last of these. A result goes to one register of each file at the most.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from mapper.arch.cgra_energy import ActionEnergy
from mapper.arch.part import Part, read_part

Count = Annotated[int, Field(ge=1, le=4096, strict=True)]
Pe = tuple[int, int]

_OF_32_BITS = {
    "load": "memory", "store": "memory",
    "fadd": "float", "fsub": "float", "fmul": "float", "fdiv": "float", "fmax": "float", "fmin": "float",
    "fcmp_lt": "float", "fcmp_le": "float", "fcmp_gt": "float", "fcmp_ge": "float", "fcmp_eq": "float",
    "fcmp_ne": "float", "itof": "float", "ftoi": "float", "sqrt": "float", "fabs": "float",
    "mul": "multiply", "div": "multiply", "rem": "multiply", "udiv": "multiply", "urem": "multiply",
}  # fmt: skip
_INTEGER = (
    "add", "sub", "and", "or", "xor", "shl", "shr", "sar", "lt", "le", "gt", "ge", "eq", "ne", "min", "max", "abs",
    "neg", "not",
)  # fmt: skip
_TYPES = ("i32", "u32", "i64", "u64", "f32", "f64")


def _conversion(source: str, target: str) -> str:
    """The widest and the least common of the two types decides which unit converts."""
    both = source + target
    return "float64" if "f64" in both else "float" if "f32" in both else "integer64"


OPERATION_CLASS = {
    **_OF_32_BITS,
    **{f"{opcode}.f64": "float64" for opcode, kind in _OF_32_BITS.items() if kind == "float"},
    **{f"{opcode}.i64": "multiply64" for opcode, kind in _OF_32_BITS.items() if kind == "multiply"},
    **{f"{opcode}.i64": "integer64" for opcode in _INTEGER},
    **{f"{a}_to_{b}": _conversion(a, b) for a in _TYPES for b in _TYPES if a != b},
}
"""Class of every opcode that is not plain integer arithmetic of 32 bits (class ``integer``)."""
CLASSES_OF_64_BITS = frozenset({"integer64", "multiply64", "float64", "any"})
"""A machine with one of these holds words of 64 bits."""


class RegisterFile(Part):
    """Registers of one PE, and how many of them it can read and write in a cycle (None: any number)."""

    registers: Annotated[int, Field(ge=0, le=1024, strict=True)]
    read_ports: Count | None = None
    write_ports: Count | None = None


class SharedRegisterFile(Part):
    """Registers that several PEs share: how many there are, and how many can be read and written in a cycle, by
    all PEs together (None: any number). ``at``: the PEs that read and write them, as [row, column], or ``all``."""

    registers: Annotated[int, Field(ge=1, le=1024, strict=True)]
    read_ports: Count | None = None
    write_ports: Count | None = None
    at: Literal["all"] | Annotated[list[tuple[int, int]], Field(min_length=1)] = "all"


class PeGroup(Part):
    """Which PEs can do what: ``classes`` are integer, multiply and float (of 32 bits), the same of 64 bits, memory, or
    ``any`` (every opcode, known or not). ``at``: the PEs as [row, column], or ``all``."""

    at: Literal["all"] | list[tuple[int, int]]
    classes: list[
        Literal["integer", "multiply", "float", "integer64", "multiply64", "float64", "memory", "any"]
    ]


class VliwMode(Part):
    """What code costs that does not run on the array [Bae2018, sec. II-A]: cycles to set up and start a loop, for
    each live-in that it takes, for the address of each array that it accesses, until the first live-in has come from
    memory (the others follow it), for each word that is copied (im2col, im2row, padding), and for each element
    of operators that the array cannot run, by operator (``other``: of any)."""

    set_up_cycles: Annotated[int, Field(ge=0, le=10**6, strict=True)]
    live_in_cycles: Annotated[int, Field(ge=0, le=10**6, strict=True)]
    address_cycles: Annotated[int, Field(ge=0, le=10**6, strict=True)] = 0
    fetch_cycles: Annotated[int, Field(ge=0, le=10**6, strict=True)] = 0
    word_cycles: Annotated[int, Field(ge=0, le=10**6, strict=True)]
    element_cycles: dict[str, Annotated[int, Field(ge=0, le=10**6, strict=True)]]


class ConfigurationMemory(Part):
    """Where the words of kernels lie while they run: how many cycles' worth (contexts) fit, so that no II can be
    larger, and how many cycles a context takes to be loaded. A kernel is loaded before its first start in a layer."""

    contexts: Annotated[int, Field(ge=1, le=1 << 20, strict=True)]
    context_cycles: Annotated[int, Field(ge=0, le=10**6, strict=True)]


class CgraMachine(Part):
    """A CGRA [Bae2018, secs. II-A and VI]."""

    schema_name: Literal["mapper.cgra/1"] = Field(alias="schema")
    name: Annotated[str, Field(min_length=1, max_length=64)]
    description: Annotated[str, Field(max_length=2000)] = ""
    rows: Annotated[int, Field(ge=1, le=64, strict=True)]
    columns: Annotated[int, Field(ge=1, le=64, strict=True)]
    links: Annotated[
        list[Literal["mesh", "torus", "diagonal", "row_bus", "column_bus"] | tuple[Pe, Pe]],
        Field(max_length=20000),
    ]
    pes: Annotated[list[PeGroup], Field(min_length=1, max_length=4096)]
    latency_cycles: dict[str, Annotated[int, Field(ge=1, le=1024, strict=True)]] = Field(default={})
    register_file: RegisterFile
    shared_register_file: SharedRegisterFile | None = None
    memory_ports: Count | None = None
    clock_mhz: Annotated[float, Field(gt=0, le=1e6)] | None = None
    sram_bytes: Annotated[int, Field(ge=1)] | None = None
    power_w: Annotated[float, Field(gt=0, le=1e6)] | None = None
    energy: ActionEnergy | None = None
    vliw: VliwMode | None = None
    configuration_memory: ConfigurationMemory | None = None

    @model_validator(mode="after")
    def _is_buildable(self) -> CgraMachine:
        for group in self.pes:
            for pe in [] if group.at == "all" else group.at:
                self._check(pe, "pes.at")
        for link in self.links:
            if not isinstance(link, str):
                self._check(link[0], "links")
                self._check(link[1], "links")
        shared = self.shared_register_file
        for pe in [] if shared is None or shared.at == "all" else shared.at:
            self._check(pe, "shared_register_file.at")
        return self

    def _check(self, pe: Pe, field: str) -> None:
        if not (0 <= pe[0] < self.rows and 0 <= pe[1] < self.columns):
            raise ValueError(f"{field}: PE {list(pe)} is outside the {self.rows}x{self.columns} array")

    @cached_property
    def all_pes(self) -> tuple[Pe, ...]:
        """Every PE, row by row."""
        return tuple((row, column) for row in range(self.rows) for column in range(self.columns))

    @cached_property
    def readers(self) -> dict[Pe, frozenset[Pe]]:
        """For every PE those that can read its output register, itself included."""
        found: dict[Pe, set[Pe]] = {pe: {pe} for pe in self.all_pes}
        for link in dict.fromkeys(self.links):
            if isinstance(link, str):
                for pe in self.all_pes:
                    found[pe].update(self._reached(pe, link))
            else:
                found[link[0]].add(link[1])
        return {pe: frozenset(reached) for pe, reached in found.items()}

    def _reached(self, pe: Pe, link: str) -> list[Pe]:
        row, column = pe
        straight = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        if link == "torus":
            return [(r % self.rows, c % self.columns) for r, c in straight]
        if link == "row_bus":
            return [other for other in self.all_pes if other[0] == row]
        if link == "column_bus":
            return [other for other in self.all_pes if other[1] == column]
        slanted = [(row + dr, column + dc) for dr in (-1, 1) for dc in (-1, 1)]
        near = straight if link == "mesh" else slanted
        return [(r, c) for r, c in near if 0 <= r < self.rows and 0 <= c < self.columns]

    @cached_property
    def sharing(self) -> frozenset[Pe]:
        """The PEs that are connected to the shared register file; none if there is no such file."""
        shared = self.shared_register_file
        if shared is None:
            return frozenset()
        return frozenset(self.all_pes if shared.at == "all" else shared.at)

    @property
    def registers(self) -> int:
        """All registers of the array, own and shared ones."""
        shared = self.shared_register_file
        own = self.register_file.registers * len(self.all_pes)
        return own + (0 if shared is None else shared.registers)

    def is_shared(self, register: int) -> bool:
        """Whether a register of this number is one of the shared file, not one of a PE's own."""
        return self.shared_register_file is not None and register >= self.register_file.registers

    def registers_of(self, pe: Pe) -> int:
        """How many registers ``pe`` can name, own and shared ones: their numbers count from 0."""
        shared = 0 if self.shared_register_file is None else self.shared_register_file.registers
        return self.register_file.registers + (shared if pe in self.sharing else 0)

    @cached_property
    def abilities(self) -> dict[Pe, frozenset[str]]:
        """For every PE the classes of operations it executes."""
        found: dict[Pe, set[str]] = {pe: set() for pe in self.all_pes}
        for group in self.pes:
            for pe in self.all_pes if group.at == "all" else group.at:
                found[pe].update(group.classes)
        return {pe: frozenset(classes) for pe, classes in found.items()}

    def can_execute(self, pe: Pe, opcode: str) -> bool:
        """Whether ``pe`` has a unit for ``opcode``."""
        classes = self.abilities[pe]
        return "any" in classes or OPERATION_CLASS.get(opcode, "integer") in classes

    @cached_property
    def holds_64_bits(self) -> bool:
        """Whether registers and memory hold words of 64 bits."""
        return any(classes & CLASSES_OF_64_BITS for classes in self.abilities.values())

    def latency(self, opcode: str) -> int:
        """Cycles from issue until the result can be read: the opcode's, else its class's, else 1."""
        kind = OPERATION_CLASS.get(opcode, "integer")
        return self.latency_cycles.get(opcode, self.latency_cycles.get(kind, 1))


def cgra_from_document(fields: dict[str, Any], source: str) -> CgraMachine:
    """A machine from the fields of a document.

    Raises: InputError naming the field that is wrong.
    """
    return read_part(CgraMachine, fields, source)
