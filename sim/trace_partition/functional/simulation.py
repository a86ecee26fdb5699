"""The functional simulator: runs a program's instructions on its memory, without time.

Only the binary and the memory are looked at. Clusters run one after another, each up to its SYNC or its end; transfers
are done when they are issued, so WAIT does nothing here (whether code waits long enough is the cycle simulator's to
say). Where an access lies beyond a buffer or the program's memory, the run ends with an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mapper.arch.snowflake import (
    BANK_INSTRUCTIONS,
    BLOCK,
    REGISTERS,
    TABLE_WORDS,
    UNITS,
    VMACS,
    SnowflakeMachine,
)
from mapper.models.trace_partition.isa.encoding import decode, first_fault
from mapper.models.trace_partition.isa.instruction import Instruction, Operation
from mapper.models.trace_partition.isa.mnemonic import mnemonic_of, written
from mapper.models.trace_partition.isa.program import HostCall, Program, Words
from mapper.models.trace_partition.lowering.layer import TensorView
from mapper.sim.trace_partition.functional import core
from mapper.sim.trace_partition.functional.memory import INSTRUCTION_WORDS, Memory
from mapper.sim.trace_partition.functional.vector import FAULTS
from mapper.workloads.document import InputError

BUDGET = 1 << 30
"""What one run may do for each cluster: instructions run and loaded, lines of 16 words moved or multiplied (`core`
counts them), and what the host does, by `HOST_WORK` and its elements. VGG19 takes an eighth of it if well cut."""
HOST_WORK = 1 << 14
SLICE = 1 << 22
"""The same between two looks at what else the process shall do."""

Host = Callable[[HostCall, Memory], None]


@dataclass(frozen=True)
class Execution:
    """What a run leaves: the memory, and for each cluster how often each operation was run."""

    memory: Memory
    counts: tuple[dict[str, int], ...]

    def view(self, view: TensorView) -> Words:
        """Part of a tensor, [height][width][channels]."""
        return self.memory.view(view)

    @property
    def instructions(self) -> int:
        """Instructions run by all clusters."""
        return sum(sum(counts.values()) for counts in self.counts)


def run(
    program: Program,
    machine: SnowflakeMachine,
    images: Mapping[tuple[int, str], Words],
    host: Host | None = None,
    budget: int = BUDGET,
) -> Execution:
    """Run a program on ``images``: by number of the image (from 0) and name of the input, Q8.8 numbers
    [height][width][channels]. ``host`` is called at each ``HALT n`` with the program's call n.

    Raises: InputError if inputs do not fit, if an instruction does what the machine cannot (naming cluster, bank, place
    and instruction), if clusters wait for one that has stopped, or if ``budget`` (for each cluster) is spent.
    """
    memory = Memory(program, machine)
    _place_images(program, memory, images)
    if len(program.clusters) > machine.clusters:
        remedy = f"needs {len(program.clusters)} clusters; {machine.name} has {machine.clusters}: take a larger one"
        raise InputError(f"program {program.name}", "clusters", remedy)
    calls = {call.number: call for call in program.calls}
    clusters = [_Cluster(program, number, machine, memory) for number in range(len(program.clusters))]
    budget *= len(clusters)
    running = list(clusters)
    while running:
        waiting: list[_Cluster] = []
        for cluster in running:
            while (stop := cluster.resume(min(SLICE, budget))) not in (core.HALTED, core.SYNCHRONISED):
                budget -= cluster.spent
                if stop == core.HOST:
                    number = cluster.instruction().immediate
                    if number not in calls or host is None:
                        raise cluster.error("there is no such host operation; compile the network again")
                    host(calls[number], memory)
                    budget -= _work(calls[number])
                elif stop == core.CODE_LOAD:
                    cluster.load_bank()
                    budget -= BANK_INSTRUCTIONS
                elif stop != core.PAUSED:
                    raise cluster.error(f"{FAULTS[stop]}; compile the network again")
                if budget <= 0:
                    raise cluster.error(
                        "the limit of instructions and words is reached; does the program end?"
                    )
            budget -= cluster.spent
            if stop == core.SYNCHRONISED:
                waiting.append(cluster)
        if waiting and len(waiting) < len(clusters):
            raise waiting[0].error("waits for a cluster that has stopped; compile the network again")
        running = waiting
    counts = tuple(
        {operation.name: int(cluster.counts[operation]) for operation in Operation} for cluster in clusters
    )
    return Execution(memory, counts)


def _work(call: HostCall) -> int:
    """What a host operation counts of the budget."""
    return HOST_WORK + sum(view.height * view.width * view.channels for view in (*call.inputs, call.output))


def _place_images(program: Program, memory: Memory, images: Mapping[tuple[int, str], Words]) -> None:
    source = f"program {program.name}"
    views = {(image, name): view for image, inputs in enumerate(program.inputs) for name, view in inputs}
    for image, name in sorted(set(views) ^ set(images)):
        remedy = (
            "is missing; give it"
            if (image, name) in views
            else "is not an input of the program; leave it out"
        )
        raise InputError(source, f"image {image}, {name}", remedy)
    for (image, name), view in views.items():
        given, into = images[image, name], memory.view(view)
        if given.shape != into.shape or given.dtype != np.int16:
            remedy = f"is {given.dtype} {list(given.shape)}; give int16 {list(into.shape)} (rows, columns, channels)"
            raise InputError(source, f"image {image}, {name}", remedy)
        into[...] = given


class _Cluster:
    """Registers, buffers and place of one cluster."""

    def __init__(self, program: Program, number: int, machine: SnowflakeMachine, memory: Memory) -> None:
        self._source, self._number, self._memory = f"program {program.name}", number, memory
        self._code = np.zeros((2, BANK_INSTRUCTIONS), np.int64)
        self._registers = np.zeros(REGISTERS, np.int64)
        self._scalars = np.zeros(core.SCALARS, np.int64)
        self._scalars[core.MODE] = -1
        self._buf = np.zeros((UNITS, machine.unit_words), np.int16)
        self._wbuf = np.zeros((UNITS, VMACS, machine.vmac_words), np.int16)
        self._held = np.zeros((3, UNITS, BLOCK), np.int32)
        self._largest = np.zeros((UNITS, BLOCK), np.int16)
        self._table = np.zeros((UNITS, TABLE_WORDS), np.int16)
        self.counts = np.zeros(len(Operation), np.int64)
        self.spent = 0
        self._load(0, program.clusters[number].address, "the first bank")

    def resume(self, fuel: int) -> int:
        """Go on with so much fuel; the answer is why the core stopped (`core`, or a fault of `vector.FAULTS`)."""
        self._scalars[core.FUEL] = fuel
        stop = core.run(
            self._code,
            self._memory.base,
            self._registers,
            self._scalars,
            self._buf,
            self._wbuf,
            self._held,
            self._largest,
            self._table,
            self._memory.words,
            self.counts,
        )
        self.spent = fuel - int(self._scalars[core.FUEL])
        return int(stop)

    def instruction(self) -> Instruction:
        """The one that was run last."""
        place = int(self._scalars[core.HERE])
        return decode(int(self._code[self._scalars[core.BANK] & 1, place]), self._source, place)

    def load_bank(self) -> None:
        """What LD.I asks for."""
        address = int(self._registers[self.instruction().b]) - self._memory.base
        self._load(1 - int(self._scalars[core.BANK] & 1), address, self._place())
        self._scalars[core.LOADED] = 1

    def _load(self, bank: int, address: int, place: str) -> None:
        end = address + INSTRUCTION_WORDS * BANK_INSTRUCTIONS
        if address < 0 or end > len(self._memory.words):
            raise InputError(
                self._source, place, "a bank beyond the program's memory; compile the network again"
            )
        words = self._memory.words[address:end].astype("<i2").view("<u4")
        wrong = first_fault(words)
        if wrong is not None:
            decode(
                int(words[wrong]), f"{self._source}: cluster {self._number}, bank loaded by {place}", wrong
            )
        self._code[bank] = words

    def _place(self) -> str:
        bank, here = int(self._scalars[core.BANK]), int(self._scalars[core.HERE])
        return f"cluster {self._number}, bank {bank}, place {here}"

    def error(self, remedy: str) -> InputError:
        """A fault of the instruction that was run last, with the registers it names."""
        instruction = self.instruction()
        fields = mnemonic_of(instruction).registers
        values = ", ".join(
            f"r{getattr(instruction, field)}={int(self._registers[getattr(instruction, field)])}"
            for field in fields
        )
        shown = f"{written(instruction)} ({values})" if values else written(instruction)
        return InputError(self._source, f"{self._place()}: {shown}", remedy)
