"""Check proofs of tilings: ``python -I check_tiling.py FILE``, which needs nothing of mapper and believes nothing.

Exit code: 0 all certified, 1 one refuted, 2 malformed, 3 not certified and why. Exact numbers, standard library alone.

A mapping is a chain of tiles r | b | c | bounds, divisors of each loop's bound: r of a PE, b = r*s of s PEs, c of the
scratch-pad (SPM), and an order of the loops between b and c (SPM) and beyond c (DRAM). It takes T = prod(bounds/c) SPM
passes of R = prod(c/b) RF passes each. All b are boxes; a box is closed because no value in it is below the claim, or
opened into splits (b, s), these into triples (b, s, c), and these into single mappings, all orders of them.
Capacity: a tile that the machine cannot hold, or a factor that is not allowed, is in no mapping.
Kept: let l be the innermost loop that runs more than once (at SPM, or at DRAM if none does at SPM). An operand that l
  indexes crosses in all T*R RF passes; the others do not, but at least once for each of their prod(bounds/b) tiles, over
  their own loops. So it is with DRAM: in all T passes, or at least once for each tile.
Delivered: the PEs' words are at least the product, over dimensions that share no loop, of 1 + sum (b - 1), as
  (1 + sum (r - 1)) * prod s >= 1 + sum (r*s - 1).
Hidden: an RF pass takes load + computing + adding up if a partial sum crosses in each, else the larger of load and
  computing, or their sum if RF is single-buffered. Each visit of a kept partial sum adds its adding up and, if RF is
  double-buffered, the computing that it waits for (within an SPM pass, or as overhead between two).
Overhead: cycles are g(x) = T*x + sum w_i*((A_i - x)+ + (B_i - x)+), x = max(DMA, processing) of usual SPM passes, where
  the w_i add up to T/u for some u >= 2: g does not fall, so g(DMA) and g(processing) are bounds of it.
Least: what c adds to (b, s) is at least the least of all c that b divides. EDP is at least the product of two bounds.
"""

import functools
import hashlib
import itertools
import json
import math
import pathlib
import re
import resource
import signal
import sys
from fractions import Fraction

KIND = "tiling"
TRUSTED = "cost model as in Tiling.cost; lemmas Capacity, Kept, Delivered, Hidden, Overhead, Least in the docstring"


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


def main(path, *options):
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (300, 310))
    signal.signal(signal.SIGXCPU, too_long)
    try:
        with pathlib.Path(path).open("rb") as file:
            data = file.read((1 << 28) + 1)
        need(len(data) <= 1 << 28, "is larger than 256 MB", "malformed")
        read = json.loads(data.decode(), object_pairs_hook=unique, parse_float=rational, parse_constant=rational)
        schema, proofs = fields(read, "schema", "proofs")
        need(schema == "mapper.proofs/1" and type(proofs) is list and proofs, "is no mapper.proofs/1", "malformed")
        found = [verdict(proof) for proof in proofs]
    except (OSError, ValueError, RecursionError, MemoryError, EndedError) as error:
        found = [("", "malformed", str(error.args[-1] if error.args else "is too large"))]
    lines = [re.sub(r"[^ -~]", "?", f"{part or path}: {status}: {reason}") for part, status, reason in found]
    print(json.dumps(found) if "--json" in options else "\n".join([*lines, f"trusted: {TRUSTED}"]))
    statuses = [status for _, status, _ in found]
    return next((code for code, one in ((2, "malformed"), (1, "refuted"), (3, "not certified")) if one in statuses), 0)


# ---- This kind's own: the problem, its cost, the lemmas.
SIZE, FLAG, LEVELS, MOST_STEPS = range(1, 1 << 50), (True, False), ("dram", "spm", "rf", "spatial"), 20_000_000
OBJECTIVES = ("least EDP in pJ*cycles", "least energy in pJ", "least latency in cycles")
ORDER = {level: [str, 0, 12] for level in LEVELS[:2]}
MAPPING = {"tiling": {"": dict.fromkeys(LEVELS, SIZE)}, "order": ORDER}
SHAPE = {  # choices, ranges, [what a list holds, its least length, its most], {"": what each loop has}
    "objective": OBJECTIVES, "operation": ("multiply_add", "add"), "loops": {"": range(1, 1 << 31)}, "innermost": ORDER,
    "factors": dict.fromkeys(LEVELS, {"": [SIZE, 0, 4096]}),  # of loops that may not have all their divisors at a level
    "operands": [{"name": str, "access": ("read", "write", "read_write"), "zero_initialised": FLAG,
                  "index": [{"": range(-1 << 40, 1 << 40)}, 1, 8], "extents": [SIZE, 1, 8]}, 1, 8],
    "machine": dict.fromkeys(("rows", "columns", "multiply_cycles", "add_cycles", "word_bytes", "rf_bytes", "spm_bytes",
                              "bank_bytes"), SIZE)
    | dict.fromkeys(("pipelined", "rf_double_buffered", "spm_double_buffered"), FLAG)
    | dict.fromkeys(("initiation_cycles", "cycles_per_byte", "clock_mhz", "dma_clock_mhz"), Fraction)
    | {"networks": [{"carries": ("read", "write"), "width_words": SIZE}, 1, 16], "reduction": ("bus", "mesh"),
       "energy_pj": dict.fromkeys(("mac", "add", "rf", "noc", "spm", "dram"), Fraction), "energy": ("rounded", "exact"),
       "stored_extent": ("declared", "touched"), "partial_sums": ("doubled", "first_visit_free")},
}  # fmt: skip


def read(value, shape):
    if type(shape) is dict:
        need(type(value) is dict and ("" not in shape or len(value) <= 12), "needs fields", "malformed")
        names = value if "" in shape else shape
        return {name: read(one, shape.get(name, shape.get(""))) for name, one in zip(names, fields(value, *names))}
    if type(shape) is list:
        need(type(value) is list and shape[1] <= len(value) <= shape[2], "a list has a wrong length", "malformed")
        return [read(one, shape[0]) for one in value]
    if type(shape) is range:
        return whole(value, shape.start, shape.stop)
    if shape is Fraction:
        value = rational(value)
        need(0 <= value <= 10**15 and value.denominator <= 10**40, "needs numbers from 0 to 1e15", "malformed")
    elif shape is not str or type(value) is not str:
        need(any(type(value) is type(one) and value == one for one in shape), f"needs one of {shape}", "malformed")
    return value


def over(one, other):
    return tuple(x // y for x, y in zip(one, other, strict=True))


def times(one, other):
    return tuple(x * y for x, y in zip(one, other, strict=True))


class Tiling:
    """The problem, and what its mappings cost [Dave2019, secs. 4.1 to 4.3]."""

    def __init__(self, problem):
        p = read(problem, SHAPE)
        self.m, operands, at = p["machine"], p["operands"], list(p["loops"]).index
        m, self.objective, self.known, self.steps = self.m, p["objective"], {}, MOST_STEPS
        self.names, self.bounds, self.ops = list(p["loops"]), tuple(p["loops"].values()), range(len(operands))
        need(self.names and math.prod(self.bounds) <= 10**15, "has no loops or too many iterations", "malformed")
        self.dims = [[([(at(loop), abs(f)) for loop, f in index.items() if f], extent)
                      for index, extent in zip(one["index"], one["extents"], strict=True)] for one in operands]
        self.own = [{j for spans, _ in dims for j, _ in spans} for dims in self.dims]
        self.stay_at = [frozenset(k for k in self.ops if j not in self.own[k]) for j in range(len(self.names))]
        access, self.zero = [one["access"] for one in operands], [one["zero_initialised"] for one in operands]
        self.updated, self.written = [way == "read_write" for way in access], [way != "read" for way in access]
        need(sum(self.written) == 1, "needs one operand that is written", "malformed")
        multiplies, factors = p["operation"] == "multiply_add", len(operands) - 1
        operations = max(1, factors - 1 if multiplies else factors)
        latency = 1 if m["pipelined"] else (m["multiply_cycles"] if multiplies else 0) + m["add_cycles"]
        self.iteration, self.pes, self.double = operations * latency, m["rows"] * m["columns"], m["rf_double_buffered"]
        self.banks = m["spm_bytes"] // (2 if m["spm_double_buffered"] else 1) // m["bank_bytes"]
        self.rounded, self.doubled = m["energy"] == "rounded", m["partial_sums"] == "doubled"
        faster = m["clock_mhz"] / m["dma_clock_mhz"]
        self.burst = m["initiation_cycles"] * faster, m["cycles_per_byte"] * m["word_bytes"] * faster
        self.per_pj = math.lcm(*(energy.denominator for energy in m["energy_pj"].values()))
        mac, add, rf, self.noc, self.spm, self.dram = (int(e * self.per_pj) for e in m["energy_pj"].values())
        self.addition, accesses = 3 * rf + self.noc + mac, len(operands) + sum(self.updated)
        self.base = math.prod(self.bounds) * (operations * (mac if multiplies else add) + accesses * rf)
        self.networks, self.width = [[] for _ in m["networks"]], [1 << 50 for _ in self.ops]
        for way in ("read", "write"):  # operands take the networks of each way in turn
            sides = [place for place, one in enumerate(m["networks"]) if one["carries"] == way]
            for turn, k in enumerate(k for k in self.ops if access[k] in (way, "read_write")):
                self.networks[sides[turn % len(sides)]].append(k)
                self.width[k] = min(self.width[k], m["networks"][sides[turn % len(sides)]]["width_words"])
        self.innermost = [tuple(at(loop) for loop in reversed(p["innermost"][level])) for level in LEVELS[:2]]
        self.divisors = [sorted({d for i in range(1, math.isqrt(n) + 1) if n % i == 0 for d in (i, n // i)})
                         for n in self.bounds]
        self.allowed = {level: [set(p["factors"][level].get(name, ds))
                                for name, ds in zip(self.names, self.divisors, strict=True)] for level in LEVELS}

    def work(self, steps):
        self.steps -= steps
        need(self.steps >= 0, f"takes more than {MOST_STEPS} steps", "not certified")

    def allows(self, level, factors):
        return all(map(set.__contains__, self.allowed[level], factors))

    def words(self, k, tile):
        return math.prod(1 + sum(f * (tile[j] - 1) for j, f in spans) for spans, _ in self.dims[k])

    def fits_pes(self, r, s):
        words = sum(self.words(k, r) for k in self.ops)
        return math.prod(s) <= self.pes and words * self.m["word_bytes"] <= self.m["rf_bytes"]

    def fits_spm(self, c):
        taken = [-(-self.words(k, c) * self.m["word_bytes"] // self.m["bank_bytes"]) for k in self.ops]
        return sum(taken) <= self.banks

    def tiles(self, trips):
        """Of every operand, different tiles."""
        return [math.prod(trips[j] for j in own) for own in self.own]

    def dma(self, c):
        """Of every operand, energy and cycles of a transfer; bursts end at the first dimension not taken whole."""
        found = []
        for dims in self.dims:
            burst, bursts, contiguous = 1, 1, True
            for spans, stored in reversed(dims):
                span, touched = (1 + sum(f * (tile[j] - 1) for j, f in spans) for tile in (c, self.bounds))
                burst, bursts = (burst * span, bursts) if contiguous else (burst, bursts * span)
                contiguous = contiguous and span == (stored if self.m["stored_extent"] == "declared" else touched)
            found.append((burst * bursts * self.dram, bursts * math.ceil(self.burst[0] + self.burst[1] * burst)))
        return found

    def split(self, r, s):
        """Cycles that a PE computes; of every operand the load, cycles of adding up, energies of a transfer, of that."""
        b, pes, groups, rows = times(r, s), math.prod(s), self.tiles(s), []
        for k in self.ops:
            words, here = self.words(k, r), self.words(k, b)
            added = words * (pes // groups[k] - 1) if self.updated[k] else 0
            transfer = words * (groups[k] if self.written[k] else pes) * self.noc + here * self.spm
            cycles = added if self.m["reduction"] == "mesh" else added * groups[k]
            rows.append((-(-here // self.width[k]), cycles, transfer, added * groups[k] * self.addition))
        return math.prod(r) * self.iteration, rows

    def cost(self, r, s, c, spm, dram):
        """Energy (steps of 1/per_pj pJ) and cycles of a mapping whose operands stay for ``spm`` and ``dram`` passes."""
        (compute, rows), dma, trips = self.split(r, s), self.dma(c), over(self.bounds, c)
        r_passes, s_passes, energy = math.prod(over(c, times(r, s))), math.prod(trips), self.base
        tiles, array_tiles = self.tiles(trips), self.tiles(over(self.bounds, times(r, s)))
        longer = [k for k in self.ops if spm[k] == r_passes and dram[k] > 1]  # stay from one SPM pass to the next
        for k, (_, _, transfer, addition) in enumerate(rows):
            visits = s_passes // dram[k]
            energy += dma[k][0] * (2 * visits - self.zero[k] * tiles[k] if self.updated[k] else visits)
            visits = visits if k in longer else r_passes // spm[k] * s_passes
            crossings = 2 * visits if self.updated[k] else visits
            if self.updated[k] and self.zero[k]:
                crossings -= array_tiles[k] if not self.doubled else visits if k in longer else 0
            energy += transfer * crossings + addition * visits
        moving, (q,) = [k for k in self.ops if k not in longer], [k for k in self.ops if self.written[k]]
        every = self.updated[q] and q not in longer and spm[q] == 1
        hidden, cycles, always = compute if self.double and not every else 0, 0 if every else compute * r_passes, 0
        exposed = compute if self.double or every else 0
        for stay in sorted({spm[k] for k in moving}):
            load = max(sum(rows[k][0] for k in net if k in moving and spm[k] <= stay) for net in self.networks)
            always = load if stay == 1 else always
            added = exposed + rows[q][1] if self.updated[q] and q in moving and spm[q] == stay else 0
            cycles += (max(0, load - hidden) + added) * (r_passes // stay)
            hidden = max(hidden, load)
        busy = sum(taken for (_, taken), n in zip(dma, dram, strict=True) if n == 1)
        if self.updated[q] and dram[q] == 1 and (self.doubled or not self.zero[q] or s_passes > tiles[q]):
            busy += dma[q][1]
        usual, charged = max(busy, cycles), 0
        total = usual * s_passes
        for stay in sorted({n for n in dram if n > 1}):
            kept = [k for k in self.ops if 1 < dram[k] <= stay]
            last = rows[q][1] + (compute if self.double else 0) if self.updated[q] and q in kept and q in longer else 0
            first = max([0, *(rows[k][0] - always for k in kept if spm[k] == r_passes)])
            back = dma[q][1] if self.updated[q] and q in kept else 0
            before = max(usual, busy + sum(dma[k][1] for k in kept), cycles + last)
            extra = before + max(usual, busy + back, cycles + first) - 2 * usual
            total += (extra - charged) * (s_passes // stay)
            charged = extra
        return energy, total

    def worth(self, energy, cycles):
        """The objective: an integer, that of the document in steps of energy where these are not rounded."""
        if self.rounded:
            energy, left = divmod(energy, self.per_pj)
            energy += 2 * left > self.per_pj or (2 * left == self.per_pj and energy % 2)
        return (energy * cycles, energy, cycles)[OBJECTIVES.index(self.objective)]

    def value(self, mapping):
        """What a mapping is worth that keeps every rule."""
        m = read(mapping, MAPPING)
        dram, spm, r, s = (tuple(m["tiling"][name][level] for name in self.names) for level in LEVELS)
        c = times(times(r, s), spm)
        need(len(m["tiling"]) == len(self.names) and times(c, dram) == self.bounds, "factors do not give the bounds")
        need(all(map(self.allows, LEVELS, (dram, spm, r, s))), "a factor is not allowed")
        need(self.fits_pes(r, s) and self.fits_spm(c), "the machine does not hold a tile")
        stays = []
        for level, trips, innermost in zip(LEVELS, (dram, spm), self.innermost):
            order = [self.names.index(loop) for loop in reversed(m["order"][level])]
            need(sorted(order) == list(range(len(self.names))), "an order is none of the loops")
            need(tuple(order[: len(innermost)]) == innermost, "an order does not end as it should")
            running = [j for j in order if trips[j] > 1]
            stays.append([math.prod(trips[j] for j in itertools.takewhile(set(running).difference(own).__contains__, running))
                          for own in self.own])
        return self.worth(*self.cost(r, s, c, stays[1], stays[0]))

    def stays(self, level, trips):
        """For all orders of a level's loops, the passes that the operands stay."""
        if (level, trips) not in self.known:
            found = self.known[level, trips] = set()
            states = {(frozenset(self.loops(trips)), self.innermost[level], (1,) * len(self.ops), frozenset(self.ops))}
            while states:  # loops left, those to take first, passes, operands that stay further
                self.work(len(states))
                found |= {passes for left, first, passes, alive in states if not first and not (left and alive)}
                states = {
                    (left - {j}, first[1:], tuple(n * trips[j] if k in still else n for k, n in enumerate(passes)), still)
                    for left, first, passes, alive in states if first or (left and alive) for j in first[:1] or left
                    for still in [alive & self.stay_at[j] if trips[j] > 1 else alive]}
        return self.known[level, trips]

    def loops(self, trips):
        return [j for j, n in enumerate(trips) if n > 1]

    def sets(self, trips):
        """Lemma Kept: what stays, for each loop that may be the innermost one."""
        return {self.stay_at[j] for j in self.loops(trips)} or {frozenset()}

    def inner(self, b, compute, rows):
        """Lemmas Kept, Hidden: for every set that may stay, energy without DRAM's, and cycles without DMA."""
        trips = over(self.bounds, b)
        passes, tiles, bounds = math.prod(trips), self.tiles(trips), []
        for kept in self.sets(trips):
            energy, adding, waits, serial = self.base, 0, 0, not self.double
            for k, (_, added, transfer, addition) in enumerate(rows):
                visits = crossings = tiles[k] if k in kept else passes
                if self.updated[k] and not (k in kept and self.zero[k]):
                    crossings = 2 * visits - (tiles[k] if self.zero[k] and not self.doubled else 0)
                energy += transfer * crossings + addition * visits
                if self.updated[k] and k in kept:
                    waits = tiles[k] * (added + (compute if self.double else 0))
                elif self.updated[k]:
                    adding, serial = added, True
            load = max(sum(rows[k][0] for k in net if k not in kept) for net in self.networks)
            bounds.append((energy, passes * (load + compute + adding if serial else max(load, compute)) + waits))
        return bounds

    def outer(self, c):
        """Lemmas Kept, Overhead: the least energy and cycles of DMA."""
        trips, dma, found = over(self.bounds, c), self.dma(c), []
        passes, tiles = math.prod(trips), self.tiles(trips)
        for kept in self.sets(trips):
            energy = cycles = 0
            for k, (one, taken) in enumerate(dma):
                visits = tiles[k] if k in kept else passes
                energy += one * (2 * visits - self.zero[k] * tiles[k] if self.updated[k] else visits)
                twice = k in kept or self.doubled or not self.zero[k] or passes > tiles[k]
                cycles += taken * visits * (2 if self.updated[k] and twice else 1)
            found.append((energy, cycles))
        return tuple(map(min, zip(*found, strict=True)))

    def delivered(self, k, b):
        """Lemma Delivered."""
        words, seen = 1, set()
        for spans, _ in self.dims[k]:
            if seen.isdisjoint(j for j, _ in spans):
                words *= 1 + sum(b[j] - 1 for j, _ in spans)
            seen |= {j for j, _ in spans}
        return words

    def search(self, target):
        """Close every box, or find that a mapping is better (with None, that there is one)."""
        size, outer, least = math.prod(map(len, self.divisors)), {}, {}
        need(size <= 1_000_000, f"has {size} tiles, too many to look at each", "not certified")
        counts = dict.fromkeys(("tiles", "too large", "closed", "splits closed", "triples closed", "mappings"), 0)
        above = [{d: [m for m in ds if m % d == 0 and sum(m // d % e == 0 for e in ds) == 2] for d in ds} for ds in self.divisors]

        def closes(bounds, out, what):
            closed = target is not None and all(self.worth(e + out[0], max(y, out[1])) >= target for e, y in bounds)
            counts[what] += closed
            return closed

        for b in reversed(list(itertools.product(*self.divisors))):
            self.work(1)
            counts["tiles"] += 1
            if self.allows("dram", over(self.bounds, b)) and self.fits_spm(b):
                outer[b] = self.outer(b)
            ups = [(*b[:j], m, *b[j + 1 :]) for j, d in enumerate(b) for m in above[j][d]]
            outs = [outer[b]] if b in outer else []
            outs += [least[up] for up in ups if up in least]
            if not outs:
                counts["too large"] += 1
                continue
            least[b] = out = tuple(map(min, zip(*outs, strict=True)))
            here = [self.words(k, b) for k in self.ops]
            rows = [(-(-n // self.width[k]), 0, self.delivered(k, b) * self.noc + n * self.spm, 0) for k, n in enumerate(here)]
            if closes(self.inner(b, -(-math.prod(b) // self.pes) * self.iteration, rows), out, "closed"):
                continue
            splits = [()]
            for j, n in enumerate(b):
                splits = [(*s, d) for s in splits for d in self.divisors[j] if n % d == 0 and d * math.prod(s) <= self.pes
                          and d in self.allowed["spatial"][j] and n // d in self.allowed["rf"][j]]
                self.work(len(splits))
            for s in splits:
                r = over(b, s)
                if not self.fits_pes(r, s) or closes(bounds := self.inner(b, *self.split(r, s)), out, "splits closed"):
                    continue
                for c in itertools.product(*([d for d in ds if d % n == 0] for ds, n in zip(self.divisors, b, strict=True))):
                    self.work(1)
                    if c not in outer or not self.allows("spm", over(c, b)) or closes(bounds, outer[c], "triples closed"):
                        continue
                    for dram, spm in itertools.product(self.stays(0, over(self.bounds, c)), self.stays(1, over(c, b))):
                        self.work(1)
                        counts["mappings"] += 1
                        better = target is None or self.worth(*self.cost(r, s, c, spm, dram)) < target
                        need(not better, f"a better mapping has RF tiles {r}, PEs {s}, SPM tiles {c}")
        return counts


def check(problem, claim, evidence):
    tiling = Tiling(problem)
    unit = 1 if tiling.rounded or tiling.objective == OBJECTIVES[2] else tiling.per_pj
    if claim["status"] == "infeasible":
        need(fields(evidence, "rule") == ["boxes"], "unknown rule", "malformed")
        need(claim["value"] is None and claim["bound"] is None, "nothing has no value", "malformed")
        value, target = "", None
    else:
        rule, mapping = fields(evidence, "rule", "mapping")
        value, bound = rational(claim["value"]), rational(claim["bound"])
        need(rule == "boxes", "unknown rule", "malformed")
        need(tiling.value(mapping) == value * unit, "the mapping has another value")
        need(bound == value if claim["status"] == "optimal" else bound <= value, "the bound is not as claimed")
        target = math.ceil(bound * unit)
    counts = tiling.search(target)
    return f"{claim['status']} {value}: " + ", ".join(f"{n} {what}" for what, n in counts.items())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
