"""The constraint program of modulo scheduling at one initiation interval (000, section V-C).

What the machine repeats every II cycles is stated by slot, a PE in a cycle modulo II; how long a value has been
under way is stated by stages, integers that tie an event to the event whose result it reads. So the program
has no horizon of its own and no limit on moves. docs/formulation-modulo-schedule.md says why it loses no
schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

from ortools.sat.python import cp_model

from mapper.arch.cgra import Pe
from mapper.formulations.formulation import Formulation, family, index_set, objective, variables
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.formulations.modulo_schedule.program_instance import ModuloInstance
from mapper.formulations.modulo_schedule.program_route import Event, Read, RoutedSchedule
from mapper.models.modulo_schedule.interval import mii

OUTPUT, REGISTER = "output", "register"


class ModuloProgram(Formulation):
    """The program of one instance."""

    title = "Modulo scheduling as a constraint program"
    exports = ("cpsat",)

    def __init__(self, instance: ModuloInstance) -> None:
        self.of = instance
        self.model = cp_model.CpModel()

    def size(self) -> tuple[int, int]:
        return len(self.model.proto.variables), len(self.model.proto.constraints)

    def instance(self) -> str:
        graph, machine = self.of.graph, self.of.machine
        return f"{graph.name} ({len(graph.operations)} operations) on {machine.name} at II {self.of.ii}"

    def exported(self, form: str) -> str:
        """CP-SAT's own text form."""
        return str(self.model.proto)

    @index_set(r"V")
    def operations(self) -> int:
        """Operations of the loop body."""
        return len(self.of.graph.operations)

    @index_set(r"D = \{(u, w, \delta)\}")
    def demands(self) -> int:
        """Values read: producer u, reader w, and how many iterations ago; edges that agree share a route."""
        return len(self.of.demands)

    @index_set(r"S = Q \times \{0, \dots, II-1\}")
    def slots(self) -> int:
        """Slots: each PE q in each cycle modulo II, written to every II cycles at the most."""
        return len(self.of.pes) * self.of.ii

    @variables(r"x_{v,q,s} \in \{0,1\} \quad q \text{ executes } v")
    def placements(self) -> None:
        """Operation v issues on PE q in cycle s modulo II."""
        self.issue = {
            (v, q, s): self.model.new_bool_var(f"x_{v}_{q[0]}_{q[1]}_{s}")
            for v, able in enumerate(self.of.able)
            for q in able
            for s in range(self.of.ii)
        }
        self.on = {
            (v, q): self.model.new_bool_var(f"on_{v}_{q[0]}_{q[1]}")
            for v, able in enumerate(self.of.able)
            for q in able
        }

    @variables(r"m_{u,q,s} \in \{0,1\}")
    def moves(self) -> None:
        """A move on PE q in cycle s modulo II hands on the value of u."""
        self.move = {
            (u, q, s): self.model.new_bool_var(f"m_{u}_{q[0]}_{q[1]}_{s}")
            for u in self.of.values
            for q, s in self._slots()
        }

    @variables(r"w_{u,q,r} \in \{0,1\}, \quad b_{q,r} \in \{0,1\}")
    def results(self) -> None:
        """The value of u, or any result at all, gets ready on PE q in cycle r modulo II."""
        self.ready = {
            (u, q, r): self.model.new_bool_var(f"w_{u}_{q[0]}_{q[1]}_{r}")
            for u in self.of.values
            for q, r in self._slots()
        }
        self.busy = {(q, r): self.model.new_bool_var(f"b_{q[0]}_{q[1]}_{r}") for q, r in self._slots()}

    @variables(r"h^{\pi}_{q,r,c} \in \{0,1\} \quad 0 \le c < II,\ \pi \in \{\text{output}, \text{register}\}")
    def holding(self) -> None:
        """The result that got ready on q in cycle r is still held c cycles later, in the output register or
        in one of q's registers."""
        self.held = {
            (kind, q, r, c): self.model.new_bool_var(f"h_{kind}_{q[0]}_{q[1]}_{r}_{c}")
            for kind in self._kinds()
            for q, r in self._slots()
            for c in range(self.of.ii)
        }

    @variables(r"a^{\pi}_{q,s,q',r} \in \{0,1\} \quad q' \to q, \qquad z^{\pi}_{d,q,r} \in \{0,1\}")
    def reads(self) -> None:
        """The move on q in cycle s, or demand d, reads the result that got ready on a PE in cycle r."""
        self.move_read = {
            (kind, q, s, giver, r): self.model.new_bool_var(f"a_{kind}_{q}_{s}_{giver}_{r}")
            for kind in self._kinds()
            for giver, r in self._slots()
            for q in self._reached(kind, giver)
            for s in range(self.of.ii)
        }
        self.demand_read = {
            (kind, d, q, r): self.model.new_bool_var(f"z_{kind}_{d}_{q}_{r}")
            for kind in self._kinds()
            for d in range(len(self.of.demands))
            for q, r in self._slots()
        }

    @variables(
        r"k_v,\ \kappa_{q,r} \in \{0, \dots, K\}, \quad t_v = s_v + II\,k_v,\ \tau_{q,r} = r + II\,\kappa_{q,r}"
    )
    def stages(self) -> None:
        """The stage in which v issues for iteration 0, and in which the result of iteration 0 of what gets
        ready on q in cycle r does."""
        last, ii = self.of.horizon_stages, self.of.ii
        operations = range(len(self.of.graph.operations))
        self.stage = [self.model.new_int_var(0, last, f"k_{v}") for v in operations]
        self.slot = [self.model.new_int_var(0, ii - 1, f"s_{v}") for v in operations]
        self.time = [slot + ii * stage for slot, stage in zip(self.slot, self.stage, strict=True)]
        self.ready_stage = {
            (q, r): self.model.new_int_var(0, last + 1, f"kappa_{q[0]}_{q[1]}_{r}") for q, r in self._slots()
        }

    @family(r"\sum_{q,s} x_{v,q,s} = 1 \quad \forall v")
    def assignment(self) -> None:
        """Every operation issues on one PE in one cycle modulo II."""
        for v, able in enumerate(self.of.able):
            self.model.add_exactly_one([self.on[v, q] for q in able])
            for q in able:
                self.model.add(sum(self.issue[v, q, s] for s in range(self.of.ii)) == self.on[v, q])
            every = [(s, self.issue[v, q, s]) for q in able for s in range(self.of.ii)]
            self.model.add(sum(s * issue for s, issue in every) == self.slot[v])

    @family(r"\sum_v x_{v,q,s} + \sum_u m_{u,q,s} \le 1 \quad \forall (q, s)")
    def execution(self) -> None:
        """A PE executes one operation or one move a cycle."""
        for q, s in self._slots():
            self.model.add_at_most_one([*self._issues(q, s), *(self.move[u, q, s] for u in self.of.values)])

    @family(r"\sum_{u,q,s} m_{u,q,s} \le |S| - |V|")
    def spare_slots(self) -> None:
        """Moves take slots that operations leave: implied, and the solver sees it at once where none is left."""
        self.model.add(sum(self.move.values()) <= self.of.spare_slots)

    @family(r"\sum_{v \in V_{mem}} \sum_q x_{v,q,s} \le \text{ports} \quad \forall s")
    def memory_ports(self) -> None:
        """Loads and stores issued in a cycle fit the memory's ports."""
        ports = self.of.machine.memory_ports
        memory = [v for v, o in enumerate(self.of.graph.operations) if o.opcode in ("load", "store")]
        if ports is None or len(memory) <= ports:
            return
        for s in range(self.of.ii):
            self.model.add(sum(self.issue[v, q, s] for v in memory for q in self.of.able[v]) <= ports)

    @family(
        r"w_{u,q,r} = x_{u,q,r-\lambda_u} + m_{u,q,r-1}, \quad b_{q,r} = \sum_{\text{results}} \quad \forall (q,r)"
    )
    def getting_ready(self) -> None:
        """A value gets ready its latency after its operation issues and one cycle after a move does; of all
        results on a PE one at the most in a cycle."""
        ii, latency = self.of.ii, self.of.latency
        for q, r in self._slots():
            moved = {u: self.move[u, q, (r - 1) % ii] for u in self.of.values}
            written: dict[int, Any] = {
                v: self.issue[v, q, (r - latency[v]) % ii]
                for v in range(len(self.of.graph.operations))
                if (v, q) in self.on
            }
            for u in self.of.values:
                self.model.add(self.ready[u, q, r] == written.get(u, 0) + moved[u])
            self.model.add(self.busy[q, r] == sum(written.values()) + sum(moved.values()))

    @family(
        r"h_{q,r,c} \Rightarrow h_{q,r,c-1},\quad h_{q,r,0} \Rightarrow b_{q,r},\quad "
        r"h^{out}_{q,r,c} \Rightarrow \neg b_{q,r+c}"
    )
    def lifetime(self) -> None:
        """A place holds a result from when it is ready; an output register until the next one is ready."""
        for (kind, q, r, c), held in self.held.items():
            if c == 0:
                self.model.add_implication(held, self.busy[q, r])
            else:
                self.model.add_implication(held, self.held[kind, q, r, c - 1])
                if kind == OUTPUT:
                    self.model.add_implication(held, ~self.busy[q, (r + c) % self.of.ii])

    @family(r"\sum_{r} h^{reg}_{q,r,s-r} \le R \quad \forall (q,s)")
    def register_pressure(self) -> None:
        """The registers of a PE hold all results that are kept in them in a cycle. Whether they can also be
        named is decided when a schedule is read off: see `forbid_lifetimes`."""
        ii, registers = self.of.ii, self.of.machine.register_file.registers
        if 0 < registers < ii:
            for q, s in self._slots():
                self.model.add(sum(self.held[REGISTER, q, r, (s - r) % ii] for r in range(ii)) <= registers)

    @family(
        r"\sum_{\pi,q',r} a^{\pi}_{q,s,q',r} = \sum_u m_{u,q,s},\quad "
        r"a \wedge m_{u,q,s} \Rightarrow w_{u,q',r} \wedge h_{q',r,s-r}"
    )
    def moved_values(self) -> None:
        """A move reads one place, which holds the value that it hands on."""
        reading: dict[tuple[Pe, int], list[Any]] = {place: [] for place in self._slots()}
        for (kind, q, s, giver, r), read in self.move_read.items():
            reading[q, s].append(read)
            self.model.add_implication(read, self.held[kind, giver, r, (s - r) % self.of.ii])
            for u in self.of.values:
                self.model.add_bool_or([~read, ~self.move[u, q, s], self.ready[u, giver, r]])
        for (q, s), reads in reading.items():
            self.model.add(sum(reads) == sum(self.move[u, q, s] for u in self.of.values))

    @family(
        r"\sum_{\pi,q,r} z^{\pi}_{d,q,r} = 1,\quad z_{d,q,r} \Rightarrow w_{u,q,r} \wedge \bigvee_{q \to p} x_{w,p}"
    )
    def demanded_values(self) -> None:
        """Every demand reads one place of its value, from a PE that can read that place."""
        for d in range(len(self.of.demands)):
            places = product(self._kinds(), self._slots())
            self.model.add_exactly_one([self.demand_read[kind, d, q, r] for kind, (q, r) in places])
        for (kind, d, q, r), read in self.demand_read.items():
            demand = self.of.demands[d]
            self.model.add_implication(read, self.ready[demand.source, q, r])
            near = [(demand.destination, p) for p in self._reached(kind, q)]
            self.model.add_bool_or([~read, *(self.on[place] for place in near if place in self.on)])

    @family(r"z^{\pi}_{d,q,r} \wedge (s_w = s) \Rightarrow h^{\pi}_{q,r,s-r}")
    def demanded_lifetimes(self) -> None:
        """The place still holds the value when the demand reads it."""
        at = [
            [sum(self.issue[v, q, s] for q in able) for s in range(self.of.ii)]
            for v, able in enumerate(self.of.able)
        ]
        self.at = [
            [self.model.new_bool_var(f"at_{v}_{s}") for s in range(self.of.ii)] for v in range(len(at))
        ]
        for literals, sums in zip(self.at, at, strict=True):
            for literal, total in zip(literals, sums, strict=True):
                self.model.add(literal == total)
        for (kind, d, q, r), read in self.demand_read.items():
            for s, literal in enumerate(self.at[self.of.demands[d].destination]):
                self.model.add_bool_or([~read, ~literal, self.held[kind, q, r, (s - r) % self.of.ii]])

    @family(
        r"x_{v,q,s} \Rightarrow \tau_{q,s+\lambda_v} = t_v + \lambda_v,\quad "
        r"a_{q,s,q',r} \Rightarrow \tau_{q,s+1} = \tau_{q',r} + ((s-r) \bmod II) + 1"
    )
    def event_times(self) -> None:
        """A result is ready its latency after its operation's issue; a move issues while the place that it
        reads holds the value, which also keeps moves from feeding each other in a circle."""
        ii, latency = self.of.ii, self.of.latency
        for (v, q, s), issue in self.issue.items():
            if v in self.of.values:
                stages, r = divmod(s + latency[v], ii)
                self.model.add(self.ready_stage[q, r] == self.stage[v] + stages).only_enforce_if(issue)
        for (_, q, s, giver, r), read in self.move_read.items():
            stages, ready = divmod(r + (s - r) % ii + 1, ii)
            later = self.ready_stage[giver, r] + stages
            self.model.add(self.ready_stage[q, ready] == later).only_enforce_if(read)

    @family(r"z_{d,q,r} \Rightarrow 0 \le t_w + \delta\,II - \tau_{q,r} < II")
    def reading_times(self) -> None:
        """A demand reads its place within II cycles of getting ready, the result of its iteration."""
        ii = self.of.ii
        for (_, d, q, r), read in self.demand_read.items():
            demand = self.of.demands[d]
            age = self.time[demand.destination] + demand.distance * ii - r - ii * self.ready_stage[q, r]
            self.model.add(age >= 0).only_enforce_if(read)
            self.model.add(age <= ii - 1).only_enforce_if(read)

    @family(r"t_w + \delta\,II \ge t_v + \lambda_e \quad \forall e = (v, w, \delta)")
    def dependences(self) -> None:
        """Every edge's reader, or what must follow its source, issues after the edge's latency."""
        for edge in self.of.graph.edges:
            after = self.time[edge.source] + self.of.edge_latency(edge)
            self.model.add(self.time[edge.destination] + edge.distance * self.of.ii >= after)

    @family(r"\sum_{d = (\cdot, w, \cdot)} \sum_{q,r} z^{reg}_{d,q,r} \le \text{ports} \quad \forall w")
    def read_ports(self) -> None:
        """An operation's operands from registers fit the read ports of the file; a move reads one place, and
        a PE, which gets one result ready in a cycle, never writes more than one register."""
        ports = self.of.machine.register_file.read_ports
        if ports is None or REGISTER not in self._kinds():
            return
        for v in range(len(self.of.graph.operations)):
            reading = [d for d, demand in enumerate(self.of.demands) if demand.destination == v]
            if len(reading) > ports:
                places = product(reading, self._slots())
                self.model.add(sum(self.demand_read[REGISTER, d, q, r] for d, (q, r) in places) <= ports)

    @family(r"s_0 = 0")
    def origin(self) -> None:
        """The first operation issues in cycle 0 modulo II: delaying all events alike keeps a schedule."""
        if self.slot:
            self.model.add(self.slot[0] == 0)

    @objective(r"\text{find any; } II \text{ is minimised by solving from } MII \text{ upwards}")
    def least_interval(self) -> None:
        """The II is given: what is sought is any schedule, and a proof if there is none."""

    def pin(self, times: Mapping[int, int]) -> None:
        """Fix issue times, by operation and up to a common delay; the first operation's is among them."""
        for v, time in times.items():
            self.model.add(self.slot[v] == (time - times[0]) % self.of.ii)
            self.model.add(self.stage[v] - self.stage[0] == (time - times[0]) // self.of.ii)

    def limit_moves(self, most: int) -> None:
        """At most so many moves, which leaves schedules out."""
        self.model.add(sum(self.move.values()) <= most)

    def forbid_lifetimes(self, lifetimes: dict[int, int]) -> None:
        """Results kept in registers for these cycles (by the cycle modulo II in which they get ready) have no
        names in one register file: leave them out on every PE, however rotated."""
        ii = self.of.ii
        for q, turn in self._slots():
            kept = [self.held[REGISTER, q, (r + turn) % ii, cycles - 1] for r, cycles in lifetimes.items()]
            self.model.add_bool_or([~held for held in kept])

    def extract(self, value_of: Callable[[Any], int]) -> RoutedSchedule:
        """Events and reads of a solution; registers have no names yet."""
        ii = self.of.ii
        at = {v: (q, s) for (v, q, s), issue in self.issue.items() if value_of(issue)}
        events: dict[tuple[Pe, int], Event] = {}
        reads = {
            (q, s): (kind, giver, r) for (kind, q, s, giver, r), on in self.move_read.items() if value_of(on)
        }
        times = {}
        for v, (q, s) in at.items():
            times[v] = s + ii * value_of(self.stage[v])
            if v in self.of.values:
                events[q, (s + self.of.latency[v]) % ii] = Event(q, times[v] + self.of.latency[v], None)
        for (_, q, s), moved in self.move.items():
            if value_of(moved):
                ready = (s + 1) % ii
                kind, giver, r = reads[q, s]
                time = ready + ii * value_of(self.ready_stage[q, ready])
                events[q, ready] = Event(q, time, Read(kind == REGISTER, giver, r))
        demanded = {
            d: Read(kind == REGISTER, q, r)
            for (kind, d, q, r), read in self.demand_read.items()
            if value_of(read)
        }
        placed = tuple((at[v][0], times[v]) for v in range(len(at)))
        return RoutedSchedule(self.of, placed, events, tuple(demanded[d] for d in range(len(demanded))))

    def _slots(self) -> list[tuple[Pe, int]]:
        return [(q, s) for q in self.of.pes for s in range(self.of.ii)]

    def _kinds(self) -> tuple[str, ...]:
        return (OUTPUT, REGISTER) if self.of.machine.register_file.registers else (OUTPUT,)

    def _reached(self, kind: str, q: Pe) -> tuple[Pe, ...]:
        """PEs that can read a place of ``q``."""
        return (q,) if kind == REGISTER else self.of.readers[q]

    def _issues(self, q: Pe, s: int) -> list[Any]:
        operations = range(len(self.of.graph.operations))
        return [self.issue[v, q, s] for v in operations if (v, q) in self.on]


def build(problem: ModuloProblem) -> ModuloProgram:
    """The program of ``problem`` on the whole array at its pinned II, or else at MII, built.

    Raises: InputError if no PE can execute an operation, or a cycle of the graph has distance 0.
    """
    least = mii(problem.kernel.graph, problem.machine).value
    ii = least if problem.fixed_ii is None else problem.fixed_ii
    program = ModuloProgram(ModuloInstance(problem, ii, problem.machine.all_pes))
    program.build()
    return program
