"""The array under a whole kernel: runs each start of a loop cycle by cycle, and counts everything that takes cycles."""

from __future__ import annotations

from collections import Counter

from mapper.arch.cgra import CgraMachine
from mapper.formulations.modulo_schedule.whole.problem import WholeProblem
from mapper.models.modulo_schedule.activity import Activity
from mapper.models.modulo_schedule.configuration.assembly import assemble
from mapper.models.modulo_schedule.whole.mapping import WholeMapping
from mapper.sim.modulo_schedule.conflict import Violation
from mapper.sim.modulo_schedule.report import SYMBOLIC_REPETITIONS
from mapper.sim.modulo_schedule.simulation import Run, simulate
from mapper.sim.modulo_schedule.symbol import reference_trace
from mapper.workloads.graph.entry import entered
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_execution import Memory
from mapper.workloads.loop.start import GIVEN_NAME
from mapper.workloads.whole.execution import run_graph

MOST_ISSUES = 400_000
"""Issued words that are run cycle by cycle; later starts run their graph, and take as long as earlier ones did."""


class RunningArray:
    """Runs kernels on the machine. ``cycles``: of all starts so far, with what comes before each and after it;
    ``activity``: what was done in them."""

    def __init__(self, problem: WholeProblem, mapping: WholeMapping) -> None:
        self.problem, self.mapping = problem, mapping
        self.machine: CgraMachine = problem.machine
        self.cycles = 0
        self.activity = Activity()
        self.violations: dict[Violation, None] = {}
        self.resident: list[int] = []
        self.issues = 0
        self.folded = 0
        self.same_symbols: dict[int, bool] = {}
        self._known: dict[tuple[int, int], Run] = {}
        self._started = problem.tally.runs.keys()

    def run(self, number: int, kernel: Kernel, memory: Memory) -> Memory:
        """One start of kernel ``number``."""
        schedule, trips = self.mapping.loops[number], kernel.trip_count or 0
        self._load(number, schedule.ii)
        self._outside(self._before(kernel), loads=sum(one.opcode == "load" for one in kernel.entry))
        known = self._known.get((number, trips))
        if self.issues < MOST_ISSUES or known is None:
            begun = entered(kernel, memory)
            configuration = assemble(begun, self.machine, schedule)
            if number not in self.same_symbols:
                reach = max((edge.distance for edge in kernel.graph.edges), default=0)
                short = configuration.stages + reach + SYMBOLIC_REPETITIONS
                symbolic = simulate(configuration, self.machine, {}, short, "symbols")
                self.same_symbols[number] = symbolic.trace == reference_trace(begun.graph, short)
            own = {array.name: memory[array.name] for array in kernel.arrays}
            known = self._known[number, trips] = simulate(configuration, self.machine, own, trips)
            self.issues += trips * len(configuration.words)
            self.violations |= dict.fromkeys(known.violations)
            memory = memory | known.memory
        else:
            self.folded += 1
            memory = run_graph(number, kernel, memory)
        self.cycles += known.cycles
        self.activity += known.activity
        results = len(self.problem.whole.starts[number].results)
        self._outside(results * self.machine.latency("load"), loads=results)
        return memory

    def _load(self, number: int, ii: int) -> None:
        """Brings a kernel's words into the configuration memory if they are not there; where those of all that are
        started do not fit, it holds one kernel's."""
        memory = self.machine.configuration_memory
        if memory is None or number in self.resident:
            return
        if sum(self.mapping.loops[one].ii for one in self._started) > memory.contexts:
            self.resident = []
        self.resident.append(number)
        words = ii * len(self.machine.all_pes)
        cycles = ii * memory.context_cycles
        self.cycles += cycles
        self.activity += Activity(cycles, memory_accesses=words, configuration_words=words)

    def _before(self, kernel: Kernel) -> int:
        """Cycles of the host before the first one of a start: code of the entry, then every live-in is written."""
        total = sum(
            self.machine.latency(one.opcode) for one in kernel.entry if not one.name.startswith(GIVEN_NAME)
        )
        mode = self.machine.vliw
        if mode is None:
            return total
        written = Counter(
            kind
            for one in kernel.live_ins
            for kind, places in (("address", one.offsets), ("value", one.operands + one.initial))
            if places
        )
        total += written["address"] * mode.address_cycles + written["value"] * mode.live_in_cycles
        return total + mode.set_up_cycles

    def _outside(self, cycles: int, loads: int) -> None:
        self.cycles += cycles
        self.activity += Activity(cycles, memory_accesses=loads, vliw_cycles=cycles)
