"""Check proofs of modulo schedules: ``python -I check_modulo_schedule.py FILE``. It imports nothing from mapper.

Exit code: 0 all certified, 1 one refuted, 2 malformed, 3 not certified. Exact numbers, only the standard library.
A schedule must keep every rule of the machine as `Loop` restates it; these lemmas show that its II is least.

Recurrence: an edge requires time[w] + distance * II >= time[u] + latency; around a cycle the times cancel.
Slots: a PE issues one operation per cycle, so it has II slots; operations that need certain PEs share their slots.
Ports: no more loads and stores issue in a cycle than there are memory ports.
Chessboard: at II 1 a PE has one slot and a place holds a value for one cycle. So an operation reads a result of that
  same cycle, either of a linked PE or its own. Its own is an edge from an operation to itself without moves, whose
  distance is its latency. Any other edge takes n moves, so n cycles, time[w] + distance = time[u] + latency + n, and
  n + 1 links. If every link joins two colours, colour + time of its ends differ by distance - latency + 1 modulo 2.
Operands: the operands of an operation are in different places when it issues: output registers in reach, its PE's own
  registers, and shared ones, as many as the ports can read. A value needs a path of links or shared registers.
Clauses: these statements hold for every schedule at an II, so if they contradict each other, there is none. The first
  operation issues in cycle 0, since delaying everything alike changes nothing. Operations leave M slots, so one of any
  M + 1 slots has an operation, the route of a value to a reader has at most M moves, a place holds it for at most II
  cycles, and it is read within M + 1 rounds of II cycles after the round in which it becomes ready. Cells count cycles
  from the first of that round. k is the round in which an operation issues, minus that of the first operation to which
  values connect it. The number of registers and their ports are left out, which only makes fewer statements.
Survival: leave out of a schedule all but some iterations. What remains executes these, overwrites less, and is one of
  the sequences of cycles that are followed here. Operands of earlier iterations are always available, a value is not
  kept twice, keeping more values is never worse, and a latency of several cycles may be any number of cycles.
Nest: a whole kernel takes the cycles of its host and of what is around each start, the same for all schedules, and
  for every start of n iterations (n + stages - 1) * II, and II contexts to load a loop at least once. An iteration
  issues over L cycles at least, the longest path with edges of latency - distance * II, so stages > L / II. The sum of
  the least of each loop, over all II that its evidence leaves, is a bound; of several choices the least one counts.
"""

import gc
import hashlib
import json
import os
import pathlib
import re
import resource
import signal
import sys
from bisect import bisect_right
from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import comb

KIND = "modulo_schedule"
TRUSTED = "machine as restated here; lemmas Recurrence, Slots, Ports, Chessboard, Operands, Clauses, Survival, Nest"


# ---- The same lines in every checker: reading, binding, answering.
class EndedError(Exception):
    """The check of a proof is over: a status and the reason."""


def need(holds, reason, status="refuted"):
    if not holds:
        raise EndedError(status, reason)


def fields(value, *names):
    need(type(value) is dict and set(value) == set(names), f"needs just the fields {', '.join(names)}", "malformed")
    return [value[name] for name in names]


def whole(value, least=0, most=1 << 62):
    need(type(value) is int and least <= value <= most, f"needs integers from {least} to {most}", "malformed")
    return value


def rational(value):
    text = str(value) if type(value) in (int, str) else ""
    need(re.fullmatch(r"-?\d{1,999}(/[1-9]\d{0,999})?", text), "needs integers and fractions p/q", "malformed")
    found = Fraction(text)
    need(value == (str(found) if "/" in text else int(text)), f"{text} is not in lowest terms", "malformed")
    return found


def unique(pairs):
    need(len(dict(pairs)) == len(pairs), "a key stands twice", "malformed")
    return dict(pairs)


def too_long(*_):
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    raise EndedError("not certified", "takes more than 300 s")


def verdict(proof):
    part, names = "", ("schema", "kind", "part", "problem", "problem_sha256", "claim", "evidence")
    try:
        schema, kind, part, problem, sha256, claim, evidence = fields(proof, *names)
        need((schema, kind, type(part)) == ("mapper.proof/1", KIND, str), f"is no proof of kind {KIND}", "malformed")
        status, _, _ = fields(claim, "status", "value", "bound")
        need(status in ("optimal", "infeasible", "bounded"), "the claim has no status", "malformed")
        text = json.dumps(problem, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        need(sha256 == hashlib.sha256(text.encode()).hexdigest(), "problem_sha256 is of another problem")
        if type(evidence) is dict and evidence.get("rule") == "none":
            raise EndedError("not certified", str(fields(evidence, "rule", "reason")[1]))
        return part, "certified", check(problem, claim, evidence)
    except EndedError as end:
        return str(part), *end.args
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as error:
        return str(part), "malformed", f"{type(error).__name__}: {error}"[:200]


def verdicts(path, options):
    for limit, most, last in ((resource.RLIMIT_AS, 3 << 30, 3 << 30), (resource.RLIMIT_CPU, 300, 310)):
        hard = [one for one in resource.getrlimit(limit) if one != resource.RLIM_INFINITY]
        resource.setrlimit(limit, (min([most, *hard]), min([last, *hard[1:]])))
    signal.signal(signal.SIGXCPU, too_long)
    try:
        need(path and options in ([], ["--json"]), "is not called as: check_KIND.py FILE [--json]", "malformed")
        with pathlib.Path(path).open("rb") as file:
            data = file.read((1 << 28) + 1)
        need(len(data) <= 1 << 28, "is larger than 256 MB", "malformed")
        read = json.loads(data.decode(), object_pairs_hook=unique, parse_float=rational, parse_constant=rational)
        schema, proofs = fields(read, "schema", "proofs")
        need(schema == "mapper.proofs/1" and type(proofs) is list and proofs, "is no mapper.proofs/1", "malformed")
        late = ("", "not certified", "takes more than 300 s")
        return [verdict(proof) if sum(os.times()[:2]) < 300 else late for proof in proofs]
    except EndedError as end:
        return [("", *end.args)]
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        return [("", "malformed", str(error.args[-1] if error.args else "is too large"))]


def told(found, path, options):
    lines = [re.sub(r"[^ -~]", "?", f"{part[:99] or path}: {status}: {reason[:999]}") for part, status, reason in found]
    print(json.dumps(found) if "--json" in options else "\n".join([*lines, f"trusted: {TRUSTED}"]), flush=True)
    statuses = [status for _, status, _ in found]
    return next((code for code, one in ((2, "malformed"), (1, "refuted"), (3, "not certified")) if one in statuses), 0)


def main(path="", *options):
    options, code, child = [*options], 4, os.fork()  # A child reads and judges: whatever ends it, an answer remains.
    if not child:
        gc.disable()  # Numbers make no circles.
        try:
            code = told(verdicts(path, options), path, options)
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code in range(4) else told([("", "not certified", "takes too much time or memory")], path, options)


# ---- This kind's own: the problem, its cost, the lemmas.
OBJECTIVE, WHOLE = "least initiation interval, in cycles", "least cycles of a whole kernel"
UNITS = {
    "memory": "load store", "multiply": "mul div rem udiv urem",
    "float": "fadd fsub fmul fdiv fmax fmin fcmp_lt fcmp_le fcmp_gt fcmp_ge fcmp_eq fcmp_ne itof ftoi sqrt fabs",
    "integer64": "add sub and or xor shl shr sar lt le gt ge eq ne min max abs neg not",
}
UNITS["multiply64"], UNITS["float64"] = UNITS["multiply"], UNITS["float"]
for unit, ending in (("integer64", "i64"), ("multiply64", "i64"), ("float64", "f64")):
    UNITS[unit] = " ".join(f"{opcode}.{ending}" for opcode in UNITS[unit].split())
TYPES = ("i32", "u32", "i64", "u64", "f32", "f64")
for source, target in ((source, target) for source in TYPES for target in TYPES if source != target):
    # The widest and the least common of two types decides which unit converts.
    wide = "float64" if "f64" in (source, target) else "float" if "f32" in (source, target) else "integer64"
    UNITS[wide] += f" {source}_to_{target}"
UNIT = {opcode: unit for unit, opcodes in UNITS.items() for opcode in opcodes.split()}
STRAIGHT, SLANTED = ((0, 1), (0, -1), (1, 0), (-1, 0)), ((1, 1), (1, -1), (-1, 1), (-1, -1))
STEPS = {
    "mesh": STRAIGHT, "torus": STRAIGHT, "diagonal": SLANTED,
    "row_bus": [(0, step) for step in range(-63, 64)], "column_bus": [(step, 0) for step in range(-63, 64)],
}
ANY, NEVER, OUTPUT, SHARED, MOST_STEPS, MOST_CLAUSES = 1 << 30, 1 << 62, -1, -1, 300_000, 2_000_000


def alone(table, key, what, reason):
    need(table.setdefault(key, what) == what, reason)


def ports(value):
    return ANY if value is None else whole(value, 1, 4096)


class Loop:
    """A loop and its array. PEs and registers count from 0, row by row, shared registers after a PE's own ones."""

    def __init__(self, problem):
        names = ("objective", "fixed_ii", "operations", "edges", "machine")
        objective, self.fixed, operations, edges, machine = fields(problem, *names)
        names = ("rows", "columns", "links", "pes", "latency_cycles", "register_file", "shared_register_file")
        rows, columns, links, groups, cycles, own, shared, memory_ports = fields(machine, *names, "memory_ports")
        need(objective == OBJECTIVE, "another objective", "malformed")
        lists = {*map(type, (operations, edges, links, groups, *operations))}
        need(lists == {list} and type(cycles) is dict, "needs lists of operations, edges, links and PEs", "malformed")
        need(self.fixed is None or whole(self.fixed, 1, 1 << 31), "no interval", "malformed")
        self.grid = whole(rows, 1, 64), whole(columns, 1, 64)
        self.pes, self.memory_ports = rows * columns, ports(memory_ports)
        self.own, self.shared, self.sharing = self.file(own), (0, 0, 0), set()
        if shared is not None:
            self.shared = self.file({key: value for key, value in shared.items() if key != "at"})
            self.sharing = set(self.places(shared["at"]) if shared["at"] != "all" else range(self.pes))
            need(self.sharing and self.shared[0], "no PE is connected to shared registers", "malformed")
        self.readers = [{pe} for pe in range(self.pes)]
        for link in {link for link in links if type(link) is str}:
            self.join(link)
        for giver, reader in (self.places(link) for link in links if type(link) is not str):
            self.readers[giver].add(reader)
        abilities = {unit: set() for unit in ("integer", "any", *UNITS)}
        need(0 < len(groups) <= 4096 and len(links) <= 20000, "too many groups of PEs or links", "malformed")
        for at, classes in (fields(group, "at", "classes") for group in groups):
            found = set(self.places(at) if at != "all" else range(self.pes))
            need(type(classes) is list and len(classes) <= 64, "has too many classes", "malformed")
            for unit in classes:
                abilities[unit] |= found
        able = {unit: pes | abilities["any"] for unit, pes in abilities.items()}
        latency = {key: whole(value, 1, 1024) for key, value in cycles.items()}
        need(0 < len(operations) <= 20000 and len(edges) <= 100000, "too many operations or edges", "malformed")
        need(all(type(text) is str for name, opcode in operations for text in (name, opcode)), "no name", "malformed")
        self.units = [UNIT.get(opcode, "integer") for _, opcode in operations]
        self.able = [able[unit] for unit in self.units]
        usual = [latency.get(opcode, latency.get(UNIT.get(opcode, "integer"), 1)) for _, opcode in operations]
        self.edges, most = [], len(operations) - 1
        for u, w, operand, distance, cycles in edges:
            need(operand is None or whole(operand) < ANY, "no operand", "malformed")
            needed = usual[whole(u, 0, most)] if cycles is None else whole(cycles, 0, 1024)
            self.edges.append((u, whole(w, 0, most), operand is not None, whole(distance, 0, 4096), needed))
        carried, soon, waits = [[] for _ in operations], [[] for _ in operations], Counter()
        for u, w, carries, distance, cycles in self.edges:
            carried[u] += [cycles] * carries
            soon[u] += [w] * (not distance)
            waits[w] += not distance
        ready = [v for v in range(len(operations)) if not waits[v]]
        for v in ready:
            waits.subtract(soon[v])
            ready += {w for w in soon[v] if not waits[w]}
        need(len(ready) == len(operations), "an operation waits for itself in its own iteration", "malformed")
        self.result = [min(found, default=usual[v]) for v, found in enumerate(carried)]

    def file(self, value):
        registers, read, write = fields(value, "registers", "read_ports", "write_ports")
        return whole(registers, 0, 1024), ports(read), ports(write)

    def places(self, at):
        """PEs, which are given as [row, column]."""
        rows, columns = self.grid
        return [whole(row, 0, rows - 1) * columns + whole(column, 0, columns - 1) for row, column in at]

    def join(self, link):
        """Let the PEs at the other ends of a pattern of links read each PE's output register."""
        rows, columns = self.grid
        for row, column, (down, right) in product(range(rows), range(columns), STEPS[link]):
            r, c = row + down, column + right
            if link == "torus" or (0 <= r < rows and 0 <= c < columns):
                self.readers[row * columns + column].add(r % rows * columns + c % columns)

    def interval(self, mapping):
        """The II of a schedule, if it keeps every rule.

        A value is an operation's result, or a move's copy of one: (operation, PE, cycle from which it can be read,
        whether it is a copy). It stands in its PE's output register, and in registers where the route says so, until
        another value or, after II cycles, its own next one is written there. Everything recurs every II cycles.
        """
        ii, placements, routes = fields(mapping, "ii", "placements", "routes")
        whole(ii, 1, 1 << 31)
        need(type(placements) is type(routes) is list, "needs lists of placements and routes", "malformed")
        need(len(placements) == len(self.units) and len(routes) == len(self.edges), "its length", "malformed")
        slots, writes, kept, reads, results = {}, {}, {}, [], []
        for v, (pe, time) in enumerate(placements):
            need(whole(pe, 0, self.pes - 1) in self.able[v], f"operation {v} is on a PE without its unit")
            alone(slots, (pe, whole(time) % ii), v, f"PE {pe} issues two in cycle {time % ii}")
            results.append((v, pe, time + self.result[v], False))
        accesses = Counter(placements[v][1] % ii for v, unit in enumerate(self.units) if unit == "memory")
        need(max(accesses.values(), default=0) <= self.memory_ports, "memory ports are too few")
        issued = [time for _, time in placements]
        values = [(value, None) for value in results]
        for at, ((u, w, carries, distance, latency), route) in enumerate(zip(self.edges, routes, strict=True)):
            read_at = placements[w][1] + distance * ii
            need(placements[u][1] + latency <= read_at, f"the latency of edge {at} is not kept")
            need(type(route) is list and bool(route) == carries, f"edge {at} has no route, or one too many")
            if carries:
                copies = [((u, whole(pe, 0, self.pes - 1), whole(ready), True), to) for pe, ready, to in route[1:]]
                chain = [(results[u], route[0]), *copies]
                values += chain
                issued += [value[2] - 1 for value, _ in copies]
                readers = [(value[1], value[2] - 1, value) for value, _ in copies] + [(placements[w][0], read_at, None)]
                reads += [(*held, *reader) for held, reader in zip(chain, readers, strict=True)]
        need(0 <= min(issued) < ii, "the first issue is not in cycles 0 to II - 1")
        self.stages = max(issued) // ii + 1
        for value, register in values:
            pe, cycle = value[1], value[2] % ii
            alone(writes, (pe, OUTPUT, cycle), value, f"two values on PE {pe} in cycle {cycle}")
            if register is not None:
                whole(register, 0, self.own[0] + self.shared[0] * (pe in self.sharing) - 1)
                file = self.file_of(register, pe)
                alone(kept, (value, file), register, "a value is in two registers of a file")
                alone(writes, (file, register, cycle), value, f"register {register} is written twice in cycle {cycle}")
        cycles, used = {}, {}
        for file, register, cycle in sorted(writes):
            cycles.setdefault((file, register), []).append(cycle)

        def holds(value, file, register, cycle):
            here = cycles[file, register]
            following = here[bisect_right(here, value[2] % ii) % len(here)]
            return value[2] <= cycle <= value[2] + (following - value[2] - 1) % ii

        for value, register, pe, cycle, copy in reads:
            place = (value[1], OUTPUT)
            if pe not in self.readers[value[1]] or not holds(value, *place, cycle):
                lost = f"operation {value[0]}'s value is not held where it is read"
                need(register is not None, lost)
                place = (self.file_of(register, value[1]), register)
                need(pe in self.sharing if place[0] == SHARED else pe == value[1], lost)
                need(holds(value, *place, cycle), lost)
                used.setdefault((place[0], cycle % ii), set()).add(register)
            if copy is not None:
                alone(slots, (pe, cycle % ii), (copy, place), f"PE {pe} issues two in cycle {cycle % ii}")
        written = Counter((file, cycle) for file, register, cycle in writes if register != OUTPUT)
        for number, counts in ((1, {key: len(found) for key, found in used.items()}), (2, written)):
            for (file, _), count in counts.items():
                need(count <= (self.shared if file == SHARED else self.own)[number], "ports of registers are too few")
        return ii

    def file_of(self, register, pe):
        return pe if register < self.own[0] else SHARED

    def span(self, ii):
        """Cycles over which an iteration issues at the least; None if operations wait for themselves at this II."""
        at = [0] * len(self.units)
        for _ in range(len(at) + 1):
            before = list(at)
            for u, w, _, distance, latency in self.edges:
                at[w] = max(at[w], at[u] + latency - distance * ii)
            if at == before:
                return max(at)
        return None

    def least(self, evidence):
        """What no II can be below, by a lemma; NEVER if there is no schedule at any II."""
        found = {"cycle": self.recurrence, "units": self.occupied, "ports": self.accessed, "parity": self.parity,
                 "operands": self.operands, "survival": self.survival, "fixed": self.pinned, "clauses": self.clauses}
        return max(1, found[evidence["rule"]](**{name: given for name, given in evidence.items() if name != "rule"}))

    def pinned(self):
        need(self.fixed is not None, "the interval is not fixed")
        return self.fixed

    def recurrence(self, edges):
        ends = [self.edges[whole(edge, 0, len(self.edges) - 1)] for edge in edges]
        need(ends and all(ends[at - 1][1] == edge[0] for at, edge in enumerate(ends)), "the cycle is not closed")
        latency, distance = sum(edge[4] for edge in ends), sum(edge[3] for edge in ends)
        return -(-latency // distance) if distance else NEVER if latency else 1

    def occupied(self, operations):
        units = {self.units[whole(v, 0, len(self.units) - 1)]: self.able[v] for v in operations}
        need(len(set(operations)) == len(operations) > 0, "an operation stands twice", "malformed")
        pes = len(set().union(*units.values()))
        return -(-len(operations) // pes) if pes else NEVER

    def accessed(self):
        return -(-self.units.count("memory") // self.memory_ports)

    def parity(self, colours, walk):
        need(not self.sharing and len(colours) == self.pes and {whole(one, 0, 1) for one in colours}, "no board")
        for pe, readers in enumerate(self.readers):
            need(all(colours[pe] != colours[other] for other in readers - {pe}), "a link joins PEs of one colour")
        odd, steps = 0, [(*self.edges[whole(edge, 0, len(self.edges) - 1)], whole(back, 0, 1)) for edge, back in walk]
        at = start = steps[0][steps[0][-1]]
        for u, w, carries, distance, _, back in steps:
            need(carries and at == (u, w)[back], "the walk is not connected")
            need(u != w or distance != self.result[u], "an operation may read its own result")
            at, odd = (w, u)[back], odd + distance - self.result[u] + 1
        need(at == start and odd % 2 == 1, "the walk is not closed, or not odd")
        return 2

    def operands(self, edges):
        need(type(edges) is list, "needs a list of edges", "malformed")
        ways = [readers | ({self.pes} if pe in self.sharing else set()) for pe, readers in enumerate(self.readers)]
        ways.append(self.sharing)
        need(len(edges) * self.pes <= 1 << 20, "too many edges to be followed", "not certified")
        back = [set() for _ in ways]
        for pe, others in enumerate(ways):
            for other in others:
                back[other].add(pe)
        room = [len(givers - {self.pes}) + min(self.own[:2]) + min(self.shared[:2]) * (pe in self.sharing)
                for pe, givers in enumerate(back[:-1])]
        read = [set() for _ in self.units]
        for u, w, carries, distance, _ in self.edges:
            read[w] |= {(u, distance)} if carries else set()
        able = {}

        def left(v):
            return able.setdefault(v, {pe for pe in self.able[v] if len(read[v]) <= room[pe]})

        for edge in edges:
            u, w, carries, _, _ = self.edges[whole(edge, 0, len(self.edges) - 1)]
            need(carries, "an edge without a value")
            able[u] = left(u) & spread(left(w), back)
            able[w] = left(w) & spread(able[u], ways)
        need(any(not left(v) for v in range(len(self.units))), "all operands have room and a way")
        return NEVER

    def clauses(self, below, steps):
        """The II from which on ``steps`` refute one after another, and so many more."""
        least = self.least(below)
        for at, refutation in enumerate(steps):
            refute(self.statements(least + at), refutation)
        return least + len(steps)

    def statements(self, ii):
        """Clauses that every schedule at this II keeps, as lists of numbers from 1 on, negative where negated.

        x, y: operation v issues on PE q in cycle s; in cycle s. k: its round is at least a. i: no value gets ready on q
        in cycle s. o: q's output register holds u's value in cell c. m: a move on q takes it. b: it is read in round g.
        f: no operation issues on q in cycle s.
        """
        ops, slots, spare = range(len(self.units)), range(ii), self.pes * ii - len(self.units)
        demands = sorted({(u, w, distance) for u, w, carries, distance, _ in self.edges if carries})
        values, cells = sorted({u for u, _, _ in demands}), range(max(0, spare + 2) * ii)
        if spare < 0:
            return [[]]
        names, found, span, pairs, asked = {}, [], {}, set(), 0
        size = len(demands) * len(cells) * self.pes * (self.pes + ii) * (1 + len(self.sharing))
        size += self.pes * (len(ops) + len(values) * len(cells)) ** 2 // ii + (len(ops) + len(self.edges)) * ii * ii
        need(size <= 1 << 24, "too many clauses", "not certified")
        able, memory = [sorted(pes) for pes in self.able], [v for v in ops if self.units[v] == "memory"]

        def var(*name):
            return names.setdefault(name, len(names) + 1)

        def add(*literals):
            nonlocal asked
            asked += 1
            need(asked <= MOST_CLAUSES, "too many clauses", "not certified")
            if not any(literal is True for literal in literals):
                found.append([literal for literal in literals if literal is not False])

        def least_round(v, a, sign=1):
            if span[v][0] < a <= span[v][1]:
                return sign * var("k", v, a)
            return (a <= span[v][0]) == (sign > 0)

        def ready(u, c, q):
            by_move = [var("m", u, c - 1, q)] if spare and c else []
            s = (c - self.result[u]) % ii
            return by_move + ([var("x", u, q, s)] if c < ii and q in self.able[u] else [])

        def reached(u, c, q):
            files = ({q} if self.own[0] else set()) | (self.sharing if q in self.sharing else set())
            found = [var("o", u, c, p) for p in range(self.pes) if q in self.readers[p]]
            for p, step in product(sorted(files), range(min(ii, c + 1))):
                found += ready(u, c - step, p)
            return found

        for root in ops:
            waiting = [] if root in span else [root]
            span.setdefault(root, (0, 0, root))
            for v in waiting:
                for u, w, distance in demands:
                    soon, late = self.result[u] // ii - distance, (self.result[u] + ii - 1) // ii + spare + 1 - distance
                    if v == u and w not in span:
                        span[w] = (span[u][0] + soon, span[u][1] + late, root)
                        waiting.append(w)
                    elif v == w and u not in span:
                        span[u] = (span[w][0] - late, span[w][1] - soon, root)
                        waiting.append(u)
        issues, results = {}, {}
        for v in ops:
            add(*(var("x", v, q, s) for q in able[v] for s in slots))
            pairs |= set(combinations([var("y", v, s) for s in slots], 2))
            for s in slots:
                pairs |= set(combinations([var("x", v, q, s) for q in able[v]], 2))
                for q in able[v]:
                    add(-var("x", v, q, s), var("y", v, s))
                    issues.setdefault((q, s), []).append(var("x", v, q, s))
                    results.setdefault((q, (s + self.result[v]) % ii), []).append(var("x", v, q, s))
            for a in range(span[v][0] + 1, span[v][1]):
                add(-var("k", v, a + 1), var("k", v, a))
        for u, c, q in product(values, cells, range(self.pes)):
            if spare and c < len(cells) - 1:
                issues.setdefault((q, c % ii), []).append(var("m", u, c, q))
                results.setdefault((q, (c + 1) % ii), []).append(var("m", u, c, q))
                add(-var("m", u, c, q), *reached(u, c, q))
            add(-var("o", u, c, q), *ready(u, c, q), var("i", q, c % ii))
            add(-var("o", u, c, q), *ready(u, c, q), var("o", u, c - 1, q) if c else False)
        if comb(self.pes * ii, spare + 1) <= MOST_CLAUSES // 8:  # No more than spare; resolution cannot count well.
            for q, s in product(range(self.pes), slots):
                add(var("f", q, s), *(var("x", v, q, s) for v in ops if q in self.able[v]))
            for few in combinations(product(range(self.pes), slots), spare + 1):
                add(*(-var("f", *slot) for slot in few))
        for table in (issues, results):
            for together in table.values():
                pairs |= set(combinations(sorted(together), 2))
        for one, other in sorted(pairs):
            add(-one, -other)
        for (q, s), together in results.items():
            for literal in together:
                add(-var("i", q, s), -literal)
        for u, w, distance in demands:
            add(*(var("b", u, w, distance, g) for g in range(spare + 2)))
            for g in range(spare + 2):
                read = -var("b", u, w, distance, g)
                for q, s in product(able[w], slots):
                    add(read, -var("x", w, q, s), *reached(u, g * ii + s, q))
                for s in slots:
                    after = (s + self.result[u]) // ii + g - distance
                    lows, highs = zip(span[u][:2], (span[w][0] - after, span[w][1] - after), strict=True)
                    for a in range(min(lows), max(highs) + 2):
                        add(read, -var("y", u, s), least_round(u, a, -1), least_round(w, a + after))
                        add(read, -var("y", u, s), least_round(u, a), least_round(w, a + after, -1))
        for (u, w, _, distance, latency), s, t in product(self.edges, slots, slots):
            if span[u][2] == span[w][2]:
                after = -((t - s - latency) // ii) - distance
                for a in range(span[u][0], span[u][1] + 1):
                    add(-var("y", u, s), -var("y", w, t), least_round(u, a, -1), least_round(w, a + after))
        for crowd in combinations(memory, self.memory_ports + 1) if len(memory) > self.memory_ports else ():
            for s in slots:
                add(*(-var("y", v, s) for v in crowd))
        add(var("y", 0, 0))
        return found

    def survival(self, iterations):
        """No sequence of cycles, in each of which a PE issues an operation, a move or nothing, executes them."""
        whole(iterations, 1, 4097)
        need(len(self.units) * iterations <= 64 and self.pes <= 8, "too large to be followed", "not certified")
        need(min(self.result) > 0, "a result can be read in the cycle in which it is issued", "not certified")
        reads = {value: set() for value in product(range(len(self.units)), range(iterations))}
        for (u, w, carries, distance, _), i in product(self.edges, range(iterations)):
            reads[w, i] |= {(u, i - distance)} if carries and i >= distance else set()
        none, pes = frozenset(), range(self.pes)
        start = ((None,) * self.pes, (none,) * self.pes, (none,) * self.pes, none, none)
        seen, waiting, steps = {start}, [start], 0
        while waiting:
            outputs, kept, pending, shared, issued = waiting.pop()
            need(len(issued) < len(reads), "the iterations can be executed")
            choices = []
            for pe in pes:
                near = {outputs[other] for other in pes if pe in self.readers[other]} - {None}
                near |= shared if pe in self.sharing else none
                able = [value for value in reads if value not in issued and pe in self.able[value[0]]]
                lacks = [(value, reads[value] - near) for value in able]
                runs = [(value, False) for value, lack in lacks if lack <= kept[pe] and len(lack) <= self.own[1]]
                choices.append([(None, False), *((value, True) for value in near | kept[pe]), *runs])
            for issues in product(*choices):
                steps += 1
                need(steps <= MOST_STEPS, "too many sequences to be followed", "not certified")
                runs = [value for value, moved in issues if value is not None and not moved]
                if len(set(runs)) < len(runs):
                    continue
                begun = issued.union(runs)
                unread = set().union(*(read for value, read in reads.items() if value not in begun))
                slow = [value if value in runs and self.result[value[0]] > 1 else None for value, _ in issues]
                ready = [[value] if value is not None and value != late else [None, *flying]
                         for (value, _), late, flying in zip(issues, slow, pending, strict=True)]
                for arrived in product(*ready):
                    fresh = [{value} - {None} for value in arrived]
                    common = (shared.union(*(fresh[pe] for pe in self.sharing))) & unread
                    lives = [(kept[pe] | fresh[pe]) & unread for pe in pes]
                    holding = [combinations(sorted(live), min(self.own[0], len(live))) for live in lives]
                    shown = (outputs[pe] if arrived[pe] is None else arrived[pe] for pe in pes)
                    out = tuple(value if value in unread else None for value in shown)
                    flying = tuple((pending[pe] - fresh[pe]) | {slow[pe]} - {None} for pe in pes)
                    for held in product(*holding, combinations(sorted(common), min(self.shared[0], len(common)))):
                        steps += 1
                        need(steps <= MOST_STEPS, "too many sequences to be followed", "not certified")
                        later = (out, tuple(map(frozenset, held[:-1])), flying, frozenset(held[-1]), begun)
                        if later not in seen:
                            seen.add(later)
                            waiting.append(later)
        return NEVER


def spread(pes, ways):
    found, waiting = set(pes), list(pes)
    while waiting:
        fresh = ways[waiting.pop()] - found
        found |= fresh
        waiting += fresh
    return found


def refute(known, steps):
    """A step is a clause, 0, and numbers of known clauses: each leaves at most one literal if the clause is false and
    what those before left is true, and the last leaves none. Then the clause is known too. The last one is empty."""
    for step in steps:
        end = step.index(0)
        plain = {*map(type, step)} == {int} and -ANY < min(step) <= max(step) < ANY
        need(plain, "a step needs lists of integers", "malformed")
        clause, false = step[:end], set(step[:end])
        for hint in step[end + 1 :]:
            left = [literal for literal in known[whole(hint, 0, len(known) - 1)] if literal not in false]
            need(len(left) <= 1, "a step of the refutation does not follow")
            if not left:
                break
            false.add(-left[0])
        else:
            need(False, "a step of the refutation does not follow")
        known.append(clause)
    need(known[-1] == [], "the statements are not refuted")


class Nest:
    """The loops of a whole kernel, how often each starts and runs, and the cycles of all that is around them."""

    def __init__(self, machine, vliw, memory, choice):
        nest, host, listed = fields(choice, "nest", "host", "loops")
        need(type(nest) is str and type(listed) is list and 0 < len(listed) <= 64, "needs loops", "malformed")
        given = ("contexts", "context_cycles"), ("set_up_cycles", "live_in_cycles", "address_cycles")
        room, price = (ANY, 0) if memory is None else fields(memory, *given[0]), (0, 0, 0)
        self.contexts, self.context = map(whole, room)
        set_up, live_in, address = map(whole, price if vliw is None else fields(vliw, *given[1]))
        self.latency, self.loops = machine["latency_cycles"], []
        counts = ("starts", "iterations", "changes", "addresses", "values", "results")
        for entry in listed:
            operations, edges, before, *numbers = fields(entry, "operations", "edges", "entry", *counts)
            starts, iterations, changes, addresses, values, results = map(whole, numbers)
            need((starts > 0) <= changes <= starts <= iterations, "a loop runs less often than it starts", "malformed")
            need(starts or not iterations, "a loop runs that never starts", "malformed")
            own = {"objective": OBJECTIVE, "fixed_ii": None, "operations": operations, "edges": edges}
            around = self.spent(before) + self.spent({"load": results}) + set_up
            around += addresses * address + values * live_in
            self.loops.append((Loop({**own, "machine": machine}), starts, iterations, changes, starts * around))
        self.outside = self.spent(host) + sum(loop[4] for loop in self.loops)

    def spent(self, counts):
        """Cycles of operations one after another."""
        need(type(counts) is dict, "needs counts of operations", "malformed")
        kinds = {opcode: UNIT.get(opcode, "integer") for opcode in counts}
        usual = {opcode: self.latency.get(opcode, self.latency.get(kind, 1)) for opcode, kind in kinds.items()}
        return sum(whole(count) * usual[opcode] for opcode, count in counts.items())

    def least(self, evidence):
        """Cycles that no schedules of the loops beat."""
        total = self.outside
        for (loop, starts, iterations, *_), given in zip(self.loops, evidence, strict=True):
            ii, best = loop.least(given), NEVER
            if ii == NEVER:
                return NEVER
            while starts and (iterations + self.context) * ii < best:
                span = loop.span(ii)
                if span is not None:
                    best = min(best, (iterations + starts * (span // ii) + self.context) * ii)
                ii += 1
            total += best if starts else 0
        return total

    def cycles(self, schedules):
        """Cycles of the whole with these schedules, if they keep every rule."""
        need(type(schedules) is list and len(schedules) == len(self.loops), "needs a schedule per loop", "malformed")
        iis = [loop[0].interval(schedule) for loop, schedule in zip(self.loops, schedules, strict=True)]
        need(max(iis) <= self.contexts, "the words of a loop do not fit into the configuration memory")
        fit = sum(ii for ii, loop in zip(iis, self.loops, strict=True) if loop[1]) <= self.contexts
        total = self.outside
        for ii, (loop, starts, iterations, changes, _) in zip(iis, self.loops, strict=True):
            loads = min(1, changes) if fit else changes
            total += (iterations + starts * (loop.stages - 1) + self.context * loads) * ii
        return total


def summed(problem, claim, evidence):
    """A whole kernel: the cycles of its schedules, and what no schedules beat."""
    names = ("objective", "machine", "vliw", "configuration_memory", "choices")
    _, machine, vliw, memory, choices = fields(problem, *names)
    _, chosen, mapping, bounds = fields(evidence, "rule", "choice", "mapping", "bound")
    status, value, claimed = claim["status"], claim["value"], whole(claim["bound"])
    need(status != "infeasible" and type(choices) is type(bounds) is list, "another claim", "malformed")
    need(0 < len(choices) == len(bounds) <= 3, "needs bounds for every choice", "malformed")
    nests = [Nest(machine, vliw, memory, choice) for choice in choices]
    least = min(nest.least(given) for nest, given in zip(nests, bounds, strict=True))
    need(least >= claimed, f"only shown: no fewer cycles than {least}")
    if mapping is None:
        need(status == "bounded" and value is chosen is None, "a value without schedules")
        return f"bounded: no fewer cycles than {claimed}"
    cycles = nests[whole(chosen, 0, len(nests) - 1)].cycles(mapping)
    need(cycles == whole(value), f"the schedules take {cycles} cycles")
    need(claimed <= cycles, "the bound is above the value")
    need(status == "bounded" or claimed == cycles, f"only shown: no fewer cycles than {claimed}")
    return f"{status} {cycles}" if status == "optimal" else f"bounded {cycles}, at least {claimed}"


def check(problem, claim, evidence):
    if type(evidence) is dict and evidence.get("rule") == "sum":
        need(type(problem) is dict and problem.get("objective") == WHOLE, "another objective", "malformed")
        return summed(problem, claim, evidence)
    loop, (rule, mapping, bound) = Loop(problem), fields(evidence, "rule", "mapping", "bound")
    status, value, claimed = claim["status"], claim["value"], claim["bound"]
    need(rule == "interval", "the evidence has another rule", "malformed")
    least = loop.least(bound)
    if status == "infeasible":
        need(value is claimed is mapping is None, "what is infeasible has no value", "malformed")
        need(least == NEVER or (loop.fixed is not None and loop.fixed < least), f"only shown: no II below {least}")
        return "infeasible"
    need(least >= whole(claimed, 1), f"only shown: no II below {least}")
    if mapping is None:
        need(status == "bounded" and value is None, "a value without a schedule")
        return f"bounded: no II below {claimed}"
    ii = loop.interval(mapping)
    need(ii == whole(value, 1), f"the schedule has II {ii}")
    need(loop.fixed in (None, ii), f"the II is fixed to {loop.fixed}")
    need(claimed <= ii, "the bound is above the value")
    need(status == "bounded" or claimed == ii, f"only shown: no II below {claimed}")
    return f"{status} {ii}" if status == "optimal" else f"bounded {ii}, at least {claimed}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
