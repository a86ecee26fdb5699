"""Check proofs of tilings: ``python -I check_tiling.py FILE``. It imports nothing of mapper and trusts nothing.

Exit code: 0 all certified, 1 one refuted, 2 malformed, 3 not certified. Exact numbers, only the standard library.

A mapping is a chain of tiles r | b | c | bounds, divisors of each loop's bound: r of a PE, b = r*s of s PEs, c of the
scratch-pad (SPM), and an order of the loops between b and c (SPM) and beyond c (DRAM). It takes T = prod(bounds/c) SPM
passes of R = prod(c/b) RF passes each. Each b is a box. A box is closed if nothing in it is
below the claim and as short as it must be; otherwise it is opened into splits (b, s), these into triples (b, s, c), and
these into single mappings, in all orders.
Capacity: no mapping contains a tile that does not fit the machine, or a factor that is not allowed.
Kept: let l be the innermost of the loops between b and the bounds (at SPM, or at DRAM if none runs at SPM). An operand
  crosses in all T*R RF passes if l indexes it. Otherwise it stays for u >= 2 passes and crosses at least once for each
  of its different tiles: prod(bounds/b) over its own loops. The same holds for DRAM, c and the T passes.
Delivered: the words for PEs are at least the product, over dimensions that share no loop, of 1 + sum (b - 1), because
  (1 + sum (r - 1)) * prod s >= 1 + sum (r*s - 1).
Overhead: cycles are g(x) = T*x + sum w_i*((A_i - x)+ + (B_i - x)+), x = max(DMA, processing) of an SPM pass, where
  the w_i add up to T/u, u >= 2, so g never falls as x grows: setting processing or DMA to 0 gives a bound.
Turns: with one scratch-pad buffer passes take DMA + processing, x, A_i and B_i are sums, and g is what it is without
  DMA plus what it is without processing.
Hidden: given what stays, ``price`` grows with computing, loads and crossings. A partial sum that stays is added up in
  each visit (and computing waits, if exposed), in an SPM pass or (Overhead) between two. So T*R passes of one SPM pass,
  without the loads of what stays, are a bound.
Least: what c adds to (b, s) is at least the minimum over all c that b divides. EDP is at least a product of two bounds.
Behind: what stays is on its network once for each of its n tiles at least; of these N cycles a pass hides no more than
  the X that its own work and loads take. So T*R passes take T*R*X + n*(N - X)+ at least.

Where a bound B may grow to any B' with B <= B' < 2B, tiles need not divide it.
Covers: take all mappings that run the same loops at every level, in the same orders. With ``floor``, ``price`` falls
  with no factor: words, bursts and additions are products of spans and factors; whether a burst ends depends on what
  runs at DRAM; crossings are products of trips v, or 2v - n = n*(2v/n - 1) where n divides v. Let H_0 <= H_1 <= ... be
  the loads that networks reach with what stays ever longer (v_0 = R > v_1 > ... of so many times, v_i | v_i-1). Then
  processing is P = sum H_i*(v_i - v_i+1) + additions, a sum of products of what grows, and so is what an SPM pass takes
  with a load N that is hidden behind H = max(computing, the load of each pass): P + (N - H)+, as H stands in P once at
  least. T*x + sum w_i*(A_i + B_i - 2x) is T*x*(1 - 2/u) + sum w_i*(A_i + B_i), w_i = T/u_i - T/u_i+1, u = u_1 >= 2.
  ``price`` itself has a smaller H where sums are exposed; it is no less than with ``floor``.
  A factor that is lowered by one with B still covered is 3 at least, since half of B' < 2B covers nothing; so the same
  loops run. Hence each mapping contains a least cover, no factor of which can be lowered (along rows and along columns
  by themselves), and costs at least its ``floor``. With b and s given, ``price`` itself falls with no trips; so what
  must be opened beyond a cover are larger r and s, one more at a time, for as long as ``floor`` is below the claim.
Growth: a class of covers has t = B/b trips, rounded up, or d = B/c at DRAM. All bounds above are sums, products and
  maxima of what grows, so they hold for a class with its least tiles and trips.
Blocks: loops that meet in a dimension are a block. A bound is at least what stands for the blocks that are chosen times
  the least of all others: words, deliveries, passes and tiles are products over blocks, and (2v - n) * w <= 2vw - nm
  for m <= w.
"""

# ruff: noqa: B905
import collections
import functools
import gc
import hashlib
import itertools
import json
import math
import os
import pathlib
import re
import resource
import signal
import sys
from fractions import Fraction

KIND = "tiling"
LEMMAS = "Capacity, Kept, Delivered, Hidden, Overhead, Turns, Least, Behind, Covers, Growth, Blocks"
TRUSTED = f"cost model as in Tiling.price; lemmas {LEMMAS} (docstring)"


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
SIZE, FLAG, LEVELS, MOST_STEPS = range(1, 1 << 50), (True, False), ("dram", "spm", "rf", "spatial"), 20_000_000
MOST_ROWS = 500_000
OBJECTIVES = ("least EDP in pJ*cycles", "least energy in pJ", "least latency in cycles")
MACHINE = {
    "rows": SIZE, "columns": SIZE, "pipelined": FLAG, "multiply_cycles": SIZE, "add_cycles": SIZE, "word_bytes": SIZE,
    "rf_bytes": SIZE, "rf_double_buffered": FLAG, "spm_bytes": SIZE, "bank_bytes": SIZE, "spm_double_buffered": FLAG,
    "networks": [{"carries": ("read", "write"), "width_words": SIZE}, 1, 16], "reduction": ("bus", "mesh", "systolic"),
    "initiation_cycles": Fraction, "cycles_per_byte": Fraction, "clock_mhz": Fraction, "dma_clock_mhz": Fraction,
    "energy_pj": dict.fromkeys(("mac", "add", "rf", "noc", "spm", "dram"), Fraction), "energy": ("rounded", "exact"),
    "stored_extent": ("declared", "touched"), "partial_sums": ("doubled", "first_visit_free"),
    "leaving_sums": ("exposed", "buffered"),
}  # fmt: skip
OPERAND = {"name": str, "access": ("read", "write", "read_write"), "zero_initialised": FLAG, "extents": [SIZE, 1, 8]}
OPERAND["index"] = [{"": range(-1 << 40, 1 << 40)}, 1, 8]
ORDER = {"dram": [str, 0, 12], "spm": [str, 0, 12]}
STEPS = {"rows": {"": SIZE}, "columns": {"": SIZE}}
MAPPING = {"tiling": {"": dict.fromkeys(LEVELS, SIZE)}, "order": ORDER, "axes": STEPS, "padded": {"": SIZE}}
PROBLEM = {"objective": OBJECTIVES, "operation": ("multiply_add", "add"), "loops": {"": range(1, 1 << 31)}}
PROBLEM |= {"operands": [OPERAND, 1, 8], "machine": MACHINE, "innermost": ORDER, "most_cycles": range(1 << 62)}
ALONG = {"sums": FLAG, "may": [str, 0, 24], "must": [str, 0, 24]}  # an axis: whether sums run there, and which loops do
PROBLEM["axes"] = [{"rows": ALONG, "columns": ALONG}, 0, 1]  # none: a machine of so many PEs, however they stand
PROBLEM["growing"] = {"": {level: {"least": SIZE, "most": SIZE} for level in LEVELS}}  # loops that may be padded
PROBLEM["factors"] = {level: {"": [SIZE, 0, 4096]} for level in LEVELS}  # of loops that may not have every divisor


def read(value, shape):
    """A value of a shape: choices, a range, [of the entries, least length, most], {of fields}, {"": of every loop}."""
    if type(shape) is dict:
        names = value if "" in shape else shape
        need(type(value) is dict and len(names) <= 24, "needs fields", "malformed")
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
    return tuple(x // y for x, y in zip(one, other))


def times(one, other):
    return tuple(x * y for x, y in zip(one, other))


@functools.cache
def divisors(n):
    return sorted({d for i in range(1, math.isqrt(n) + 1) if n % i == 0 for d in (i, n // i)})


class Tiling:
    """The problem, and what its mappings cost [Dave2019, secs. 4.1 to 4.3]."""

    def __init__(self, problem):
        if type(problem) is dict and type(problem.get("machine")) is dict:  # the rule was there before its name
            problem = problem | {"machine": {"leaving_sums": "exposed"} | problem["machine"]}
            problem = {"most_cycles": 1 << 62, "axes": [], "growing": {}} | problem  # these need not be there
        p = read(problem, PROBLEM)
        operands, m, at, self.steps = p["operands"], p["machine"], [*p["loops"]].index, 0
        self.objective, self.most = OBJECTIVES.index(p["objective"]), p["most_cycles"]
        self.names, self.bounds, self.ops, self.m = [*p["loops"]], (*p["loops"].values(),), range(len(operands)), m
        need(self.names and math.prod(self.bounds) <= 10**15, "has no loops or too many iterations", "malformed")
        self.dims = [[([(at(loop), abs(f)) for loop, f in index.items() if f], extent)
                      for index, extent in zip(one["index"], one["extents"], strict=True)] for one in operands]
        self.own = [{j for spans, _ in dims for j, _ in spans} for dims in self.dims]
        self.stay_at = [frozenset(k for k in self.ops if j not in self.own[k]) for j in range(len(self.names))]
        access = [one["access"] for one in operands]
        need(access.count("read") == len(access) - 1, "needs one operand that is written", "malformed")
        self.written = next(k for k in self.ops if access[k] != "read")
        self.partial = -1 if "write" in access else self.written  # -1: of no operand
        self.zero = operands[self.written]["zero_initialised"]
        multiplies = p["operation"] == "multiply_add"
        operations = max(1, len(operands) - (2 if multiplies else 1))
        latency = 1 if m["pipelined"] else (m["multiply_cycles"] if multiplies else 0) + m["add_cycles"]
        self.iteration, self.pes, self.double = operations * latency, m["rows"] * m["columns"], m["rf_double_buffered"]
        self.exposed = self.double and m["leaving_sums"] == "exposed"
        self.banks = m["spm_bytes"] // (2 if m["spm_double_buffered"] else 1) // m["bank_bytes"]
        self.doubled, faster = m["partial_sums"] == "doubled", m["clock_mhz"] / m["dma_clock_mhz"]
        self.burst = m["initiation_cycles"] * faster, m["cycles_per_byte"] * m["word_bytes"] * faster
        self.per_pj = math.lcm(*(energy.denominator for energy in m["energy_pj"].values()))
        mac, add, rf, self.noc, self.spm, self.dram = (int(e * self.per_pj) for e in m["energy_pj"].values())
        accesses, self.addition = len(operands) + (self.partial >= 0), 3 * rf + self.noc + mac
        self.each = operations * (mac if multiplies else add) + accesses * rf  # of an iteration
        need(len({one["carries"] for one in m["networks"]}) == 2, "needs networks of both ways", "malformed")
        sides = []
        for side, size in zip(("rows", "columns"), (m["rows"], m["columns"])):
            for one in (along[side] for along in p["axes"]):
                may, must = ({at(loop) for loop in one[key]} for key in ("may", "must"))
                if not one["sums"] and self.partial >= 0:
                    may &= self.own[self.partial]
                sides.append((size, may, must))
        self.sides = sides
        self.networks, self.width = [[] for _ in m["networks"]], [1 << 50 for _ in self.ops]
        for way in ("read", "write"):  # operands take the networks of each way in turn
            sides = [place for place, one in enumerate(m["networks"]) if one["carries"] == way]
            for k, side in zip([k for k in self.ops if access[k] in (way, "read_write")], itertools.cycle(sides)):
                self.networks[side].append(k)
                self.width[k] = min(self.width[k], m["networks"][side]["width_words"])
        self.innermost = {level: tuple(at(loop) for loop in reversed(p["innermost"][level])) for level in ORDER}
        self.divisors, self.growing = [*map(divisors, self.bounds)], {at(loop) for loop in p["growing"]}
        self.allowed = {level: [{*p["factors"][level].get(name, ds)} for name, ds in zip(self.names, self.divisors)]
                        for level in LEVELS}
        for name, levels in p["growing"].items():
            for level, may in levels.items():
                self.allowed[level][at(name)] = range(may["least"], may["most"] + 1)
        self.holds, self.stays = functools.cache(self.holds), functools.cache(self.stays)
        self.has_room = functools.cache(self.has_room)

    def together(self, dma, processing):  # of a pass, or of the layer: side by side, or in turn (lemma Turns)
        return max(dma, processing) if self.m["spm_double_buffered"] else dma + processing

    def work(self, steps=1):
        self.steps += steps
        need(self.steps <= MOST_STEPS, f"takes more than {MOST_STEPS} steps", "not certified")

    def allows(self, level, factors):
        return all(n in may for n, may in zip(factors, self.allowed[level]))

    def stands(self, j, steps):  # whether a loop may have so many steps along rows and along columns
        return all((n == 1 or j in may) and (n > 1 or j not in must) for n, (_, may, must) in zip(steps, self.sides))

    def has_room(self, s):
        """Whether the factors in space can be divided between rows and columns, where the machine has these."""
        found = {(1, 1)}
        for j, n in enumerate(s) if self.sides else ():
            ways = [(d, n // d) for d in divisors(n) if self.stands(j, (d, n // d))]
            found = {times(one, way) for one in found for way in ways}
            found = {one for one in found if all(n <= size for n, (size, *_) in zip(one, self.sides))}
            self.work(len(found))
        return bool(found)

    def words(self, k, tile):
        return math.prod(1 + sum(f * (tile[j] - 1) for j, f in spans) for spans, _ in self.dims[k])

    def holds(self, tile, unit, room):
        return sum(-(-self.words(k, tile) * self.m["word_bytes"] // unit) for k in self.ops) <= room

    def tiles(self, trips):  # different ones, of every operand
        return [math.prod(trips[j] for j in own) for own in self.own]

    def crossings(self, k, visits, free):  # a partial sum's both ways, but for so many reads of what is still zero
        return visits if k != self.partial else 2 * visits - free if self.zero else 2 * visits

    def dma(self, c, trips):
        """Of each operand energy and cycles of a transfer, and tiles; a dimension not taken whole ends a burst. Tensors
        are stored as much further as the loops reach further than their bounds."""
        found, whole = [], times(c, trips)
        for dims, tiles in zip(self.dims, self.tiles(trips)):
            burst, bursts, contiguous = 1, 1, True
            for spans, stored in reversed(dims):
                span, touched = (1 + sum(f * (tile[j] - 1) for j, f in spans) for tile in (c, whole))
                burst, bursts = (burst * span, bursts) if contiguous else (burst, bursts * span)
                beyond = stored - 1 - sum(f * (self.bounds[j] - 1) for j, f in spans)
                contiguous = contiguous and span == touched + (beyond if self.m["stored_extent"] == "declared" else 0)
            cycles = math.ceil(self.burst[0] + self.burst[1] * burst)
            found.append((burst * bursts * self.dram, bursts * cycles, tiles))
        return found

    def split(self, r, s):
        """Cycles that PEs compute; of each operand load, cycles of adding up, energies of a transfer and of that."""
        b, pes, groups, rows = times(r, s), math.prod(s), self.tiles(s), []
        for k in self.ops:
            words, here = self.words(k, r), self.words(k, b)
            added = words * (pes // groups[k] - 1) if k == self.partial else 0
            transfer = words * (groups[k] if k == self.written else pes) * self.noc + here * self.spm
            cycles = added * {"bus": groups[k], "mesh": 1, "systolic": 0}[self.m["reduction"]]
            rows.append((-(-here // self.width[k]), cycles, transfer, added * groups[k] * self.addition))
        return math.prod(r) * self.iteration, rows

    def price(self, compute, rows, dma, r_passes, s_passes, free, spm, dram, floor=False):
        """Energy (steps of 1/per_pj pJ) of transfers, and cycles; operands stay for ``spm`` RF passes and for ``dram``
        SPM passes. ``floor``: no less than lemma Covers has it."""
        energy, q, moving = 0, self.partial, [k for k in self.ops if spm[k] < r_passes or dram[k] == 1]
        for k, (_, _, transfer, addition) in enumerate(rows):
            energy += dma[k][0] * self.crossings(k, s_passes // dram[k], dma[k][2])
            visits = r_passes // spm[k] * s_passes if k in moving else s_passes // dram[k]
            energy += transfer * self.crossings(k, visits, free[k]) + addition * visits
        every = self.exposed and q in moving and spm[q] == 1  # PEs wait for a partial sum in every RF pass
        hidden, cycles, always = compute if self.double and not every else 0, 0 if every else compute * r_passes, 0
        for stay in sorted({spm[k] for k in moving}):
            load = max(sum(rows[k][0] for k in net if k in moving and spm[k] <= stay) for net in self.networks)
            always = load if stay == 1 else always
            cycles += max(0, load - hidden) * (r_passes // stay)
            hidden = max(hidden, load)
            if q in moving and spm[q] == stay:
                cycles += (rows[q][1] + (compute if self.exposed else 0)) * (r_passes // stay)
        busy = sum(taken for (_, taken, _), n in zip(dma, dram) if n == 1)
        if q >= 0 and dram[q] == 1 and (self.doubled or not self.zero or s_passes > dma[q][2]):
            busy += dma[q][1]
        usual, charged = self.together(busy, cycles), 0
        behind = max(always, compute if self.double and not (every if floor else self.exposed) else 0)
        total = usual * s_passes
        for stay in sorted(set(dram) - {1}):  # the passes before and after a change of tiles that stay for so many
            kept = [k for k in self.ops if 1 < dram[k] <= stay]
            last = rows[q][1] + (compute if self.exposed else 0) if q in kept and q not in moving else 0
            first = max([0, *(rows[k][0] - behind for k in kept if spm[k] == r_passes)])
            extra = max(usual, self.together(busy + sum(dma[k][1] for k in kept), cycles + last)) - usual
            extra += max(usual, self.together(busy + (dma[q][1] if q in kept else 0), cycles + first)) - usual
            total += (extra - charged) * (s_passes // stay)
            charged = extra
        return energy, total

    def cost(self, r, s, inner, outer, spm, dram, floor=False):
        c, r_passes, s_passes = times(times(r, s), inner), math.prod(inner), math.prod(outer)
        free = self.tiles(times(inner, outer))
        if self.doubled:
            free = [s_passes // n if m == r_passes and n > 1 else 0 for m, n in zip(spm, dram)]
        priced = self.price(*self.split(r, s), self.dma(c, outer), r_passes, s_passes, free, spm, dram, floor)
        return priced[0] + self.each * math.prod(c) * s_passes, priced[1]

    def beats(self, energy, cycles, target):  # whether a mapping of this cost may be, and is better (with None any is)
        return cycles <= self.most and (target is None or self.worth(energy, cycles) < target)

    def worth(self, energy, cycles):
        """The objective as an integer, in energies of 1/per_pj pJ unless these are rounded."""
        if self.m["energy"] == "rounded":
            energy, left = divmod(energy, self.per_pj)
            energy += 2 * left > self.per_pj or (2 * left == self.per_pj and energy % 2)
        return (energy * cycles, energy, cycles)[self.objective]

    def value(self, mapping):
        """What a mapping is worth that keeps every rule."""
        m, stays = read({"axes": {"rows": {}, "columns": {}}, "padded": {}} | mapping, MAPPING), {}
        need(set(m["tiling"]) == set(self.names), "the mapping is of other loops")
        factors = {level: tuple(m["tiling"][name][level] for name in self.names) for level in LEVELS}
        r, s, c = factors["rf"], factors["spatial"], times(times(factors["rf"], factors["spatial"]), factors["spm"])
        whole = tuple(m["padded"].pop(name, n) for name, n in zip(self.names, self.bounds))
        need(times(c, factors["dram"]) == whole and not m["padded"], "factors do not multiply to the bounds")
        need(all(n == b or (j in self.growing and b <= n < 2 * b) for j, (n, b) in enumerate(zip(whole, self.bounds))),
             "a bound may not grow so")
        need(all(self.allows(level, factors[level]) for level in LEVELS), "a factor is not allowed")
        need(math.prod(s) <= self.pes and self.holds(r, 1, self.m["rf_bytes"]), "PEs or their registers are too few")
        need(self.holds(c, self.m["bank_bytes"], self.banks), "the scratch-pad has too few banks")
        steps = [tuple(m["axes"][side].pop(name, 1) for side in STEPS) for name in self.names]
        need(not any(m["axes"].values()) and (self.sides or {*steps} <= {(1, 1)}), "loops stand on no axis")
        if self.sides:
            need(tuple(map(math.prod, steps)) == s, "what is along the axes does not multiply to what is in space")
            need(all(self.stands(j, way) for j, way in enumerate(steps)), "a loop stands on the wrong axis")
            taken = [math.prod(side) for side in zip(*steps)]
            need(all(n <= size for n, (size, *_) in zip(taken, self.sides)), "an axis is too short")
        for level, last in self.innermost.items():
            order = [self.names.index(loop) for loop in reversed(m["order"][level])]
            need(sorted(order) == [*range(len(self.names))] and (*order[: len(last)],) == last, "an order is wrong")
            runs = [j for j in order if factors[level][j] > 1]
            ends = [next((n for n, j in enumerate(runs) if j in own), None) for own in self.own]
            stays[level] = [math.prod(factors[level][j] for j in runs[:end]) for end in ends]
        energy, cycles = self.cost(r, s, factors["spm"], factors["dram"], stays["spm"], stays["dram"])
        need(cycles <= self.most, "the mapping takes longer than it may")
        return self.worth(energy, cycles)

    def stays(self, level, trips):
        """The passes that the operands stay, in all orders of a level."""

        @functools.cache
        def grown(left, last, alive):  # from the innermost loop outwards: loops left, those pinned, what stays so far
            found = set() if last or (left and alive) else {(1,) * len(self.ops)}
            for j in () if found else last[:1] or left:
                still = alive & self.stay_at[j] if trips[j] > 1 else alive
                one = [trips[j] if k in still else 1 for k in self.ops]
                found |= {times(one, more) for more in grown(left - {j}, last[1:], still)}
            self.work(len(found))
            return found

        return grown(frozenset(j for j, n in enumerate(trips) if n > 1), self.innermost[level], frozenset(self.ops))

    def relaxed(self, trips):
        """Lemma Kept: passes; for each loop that may be the innermost what stays, and for how many."""
        passes, tiles = math.prod(trips), self.tiles(trips)
        for kept in {self.stay_at[j] for j, n in enumerate(trips) if n > 1} or {frozenset()}:
            yield passes, kept, tiles, [passes // tiles[k] if k in kept else 1 for k in self.ops]

    def inner(self, b, trips, compute, rows):
        """Lemmas Hidden and Behind."""
        once, nothing = [1] * len(rows), [(0, 0, 1)] * len(rows)
        for passes, kept, tiles, stay in self.relaxed(trips):
            light = [(0, *row[1:]) if k in kept else row for k, row in enumerate(rows)]
            free = [0 if self.doubled and k not in kept else n for k, n in enumerate(tiles)]
            energy, cycles = self.price(compute, light, nothing, passes, 1, free, stay, once)
            hidden = 0 if not self.double or (self.exposed and self.partial not in kept | {-1}) else compute
            hidden = max(hidden, *(sum(light[k][0] for k in net) for net in self.networks))
            cycles += max([0, *(tiles[k] * (rows[k][0] - hidden) for k in kept)])
            yield energy + self.each * math.prod(b) * passes, cycles

    def outer(self, c, trips):
        """Lemma Overhead: the least energy and cycles of DMA."""
        once, nothing, dma = [1] * len(self.ops), [(0, 0, 0, 0)] * len(self.ops), self.dma(c, trips)
        found = [self.price(0, nothing, dma, 1, passes, once, once, stay) for passes, _, _, stay in self.relaxed(trips)]
        return min(energy for energy, _ in found), min(cycles for _, cycles in found)

    def first_rows(self, b):
        """Lemma Delivered: what ``split`` gives at least, of any split."""
        compute, rows = -(-math.prod(b) // self.pes) * self.iteration, []
        for k in self.ops:
            here = self.words(k, b)
            rows.append((-(-here // self.width[k]), 0, self.delivered(k, b) * self.noc + here * self.spm, 0))
        return compute, rows

    def delivered(self, k, b):
        delivered, seen = 1, set()
        for loops in ({j for j, _ in spans} for spans, _ in self.dims[k]):
            delivered *= 1 if loops & seen else 1 + sum(b[j] - 1 for j in loops)
            seen |= loops
        return delivered

    def splits(self, b):
        """Lemma Capacity: the tiles of a PE, and the PEs, that b may be split into."""
        found = [()]
        for j, n in enumerate(b):
            fit = [d for d in self.allowed["spatial"][j] if n % d == 0 and n // d in self.allowed["rf"][j]]
            found = [(*s, d) for s in found for d in fit if d * math.prod(s) <= self.pes]
            self.work(len(found))
        return [(over(b, s), s) for s in found if self.holds(over(b, s), 1, self.m["rf_bytes"]) and self.has_room(s)]

    def search(self, target):
        """Close every box, or find a mapping that is better (with None any is); how many were closed as what."""
        if self.growing:
            return Covers(self, target).search()
        size, outer, least, counts = math.prod(map(len, self.divisors)), {}, {}, collections.Counter()
        need(size <= 1_000_000, f"has {size} tiles, too many to look at each", "not certified")
        primes = [[d for d in ds if sum(d % e == 0 for e in ds) == 2] for ds in self.divisors]

        def closes(bounds, out, what):
            closed = not any(self.beats(e + out[0], self.together(out[1], y), target) for e, y in bounds)
            counts[what] += closed
            return closed

        for b in reversed([*itertools.product(*self.divisors)]):  # every multiple of b comes before b
            if self.allows("dram", over(self.bounds, b)) and self.holds(b, self.m["bank_bytes"], self.banks):
                outer[b] = self.outer(b, over(self.bounds, b))
            outs = [least.get((*b[:j], d * b[j], *b[j + 1 :])) for j, ds in enumerate(primes) for d in ds]
            outs = [out for out in (outer.get(b), *outs) if out]
            if not outs:
                counts["array tiles within no SPM tile"] += 1
                continue
            out = least[b] = tuple(map(min, zip(*outs)))
            trips = over(self.bounds, b)
            first, above = [*self.inner(b, trips, *self.first_rows(b))], None
            for r, s in () if closes(first, out, "array tiles") else self.splits(b):
                bounds = [*self.inner(b, trips, *self.split(r, s))]
                if closes(bounds, out, "splits"):
                    continue
                if above is None:
                    ups = [[d for d in ds if d % n == 0] for ds, n in zip(self.divisors, b)]
                    self.work(math.prod(map(len, ups)))
                    above = [c for c in itertools.product(*ups) if c in outer and self.allows("spm", over(c, b))
                             and not closes(first, outer[c], "pairs of tiles")]
                    out = tuple(map(min, zip(*(outer[c] for c in above)))) or out
                for c in above:
                    self.work()
                    if closes(bounds, outer[c], "splits in SPM tiles"):
                        continue
                    inner, beyond = over(c, b), over(self.bounds, c)
                    for spm, dram in itertools.product(self.stays("spm", inner), self.stays("dram", beyond)):
                        self.work()
                        counts["mappings"] += 1
                        better = self.beats(*self.cost(r, s, inner, beyond, spm, dram), target)
                        need(not better, f"there is a better mapping: RF tile {r}, PEs {s}, SPM tile {c}")
        return ", ".join(f"{count} {what}" for what, count in counts.items())


@functools.cache
def lowered(left, least, most):
    """One factor for each number of the others with which it covers a need without being able to be lowered."""
    if least == most:
        return [least]
    need(left <= 1 << 24, "has bounds with too many covers", "not certified")
    small = range(1, math.isqrt(left) + 2)
    every = {least, *(max(least, n) for one in small for n in (one, -(-left // one)))}
    return sorted(n for n in every if n <= most)


class Covers:
    """The search where bounds may grow: lemma Covers, and block by block of loops lemma Blocks."""

    def __init__(self, tiling, target):
        self.t, self.target, self.counts, self.seen = tiling, target, collections.Counter(), set()
        for j, stored, span in ((j, stored, 1 + sum(f * (tiling.bounds[j] - 1) for j, f in spans))
                                for dims in tiling.dims for spans, stored in dims for j, _ in spans):
            need(j not in tiling.growing or stored >= span, "a tensor ends before its loops do", "not certified")
        self.covers = [sorted(self.covers_of(j)) for j in range(len(tiling.names))]
        self.trips, self.dram = [], []  # of each loop {trips of array tiles: least, splits}, {at DRAM: least tile}
        for n, rows in zip(tiling.bounds, self.covers):
            splits, least = collections.defaultdict(set), {}
            for r, s, p, d in rows:
                splits[-(-n // (r * s))].add((r, s))
                least[d] = min(least.get(d, r * s * p), r * s * p)
            self.trips.append({t: (min(r * s for r, s in found), sorted(found)) for t, found in splits.items()})
            self.dram.append(least)
        self.spm = [{} for _ in self.covers]  # of each loop and (r, s): its factors at the SPM by those at DRAM
        for found, rows in zip(self.spm, self.covers):
            for r, s, p, d in rows:
                found.setdefault((r, s), {}).setdefault(d, []).append(p)
        self.stays = sorted({frozenset(), *tiling.stay_at}, key=sorted)
        self.cases, self.spm_cases = [*map(self.case, self.stays)], [*map(self.spm_case, self.stays)]
        self.blocks = []
        meet = [{j for j, _ in spans} for dims in tiling.dims for spans, _ in dims]
        for loops in [{j} for j in range(len(tiling.names))] + meet:
            met = [block for block in self.blocks if block & loops]
            self.blocks = [block for block in self.blocks if not block & loops] + [loops.union(*met)] * bool(loops)
        self.blocks = sorted(sorted(block) for block in self.blocks)

    def covers_of(self, j):
        """Lemma Covers: factors r, s, p, d of a loop, of which none can be lowered by one."""
        t, n, levels = self.t, self.t.bounds[j], ("rf", "spatial", "spm", "dram")
        may = [t.allowed[level][j] for level in levels]
        if j not in t.growing:
            for r, s, p in itertools.product(*[[d for d in t.divisors[j] if d in one] for one in may[:3]]):
                t.work()
                if n % (r * s * p) == 0 and n // (r * s * p) in may[3]:
                    yield r, s, p, n // (r * s * p)
            return
        if not all(may):
            return
        ends = [(one[0], one[-1]) for one in may]
        if t.sides and ends[1][0] != ends[1][1]:  # lowered along rows, or along columns
            sides = [(2 if j in must else 1, size if j in may else 1) for size, may, must in t.sides]
            ends[1:2] = sides
        rows = [((), n)]
        for least, most in ends[:-1]:
            t.work(sum(len(lowered(left, least, most)) for _, left in rows))
            rows = [((*row, f), -(-left // f)) for row, left in rows for f in lowered(left, least, most)]
            need(len(rows) <= MOST_ROWS, "has bounds with too many covers", "not certified")
        for row, left in rows:
            row = (*row, max(left, ends[-1][0]))
            whole = math.prod(row)
            if n <= whole < 2 * n and not any(f > least and whole // f * (f - 1) >= n and least < most
                                              for f, (least, most) in zip(row, ends)):
                r, s, p, d = row if len(row) == 4 else (row[0], row[1] * row[2], *row[3:])
                if all(f in one for f, one in zip((r, s, p, d), may)):
                    yield r, s, p, d

    def joined(self, blocks, closes):
        """Lemma Blocks: choices of all loops that do not close; ``blocks``: [({loop: choice}, what it multiplies)]."""
        for _ in "12":  # each by itself, with the least of all others
            least = [tuple(map(min, *(line for _, line in block), block[0][1])) if block else None for block in blocks]
            if None in least:
                return []
            self.t.work(sum(map(len, blocks)))
            others = [functools.reduce(times, least[:at] + least[at + 1 :]) if least[1:] else (1,) * len(least[0])
                      for at in range(len(least))]
            blocks = [[one for one in block if not closes(one[1], rest)] for block, rest in zip(blocks, others)]
        blocks.sort(key=len)
        if not blocks[0]:
            return []
        least = [tuple(map(min, *(line for _, line in block), block[0][1])) for block in blocks]
        found = [((), (1,) * len(least[0]))]
        for at, block in enumerate(blocks):
            rest = functools.reduce(times, least[at + 1 :], (1,) * len(least[0]))
            most = self.t.pes // rest[0]
            self.t.work(len(found) * len(block))
            found = [((*some, more), both) for some, line in found for more, other in block
                     if line[0] * other[0] <= most and not closes(both := times(line, other), rest)]
            need(len(found) <= MOST_ROWS, "leaves too many tiles open", "not certified")
        return [self.tiles(functools.reduce(dict.__or__, some)) for some, _ in found]

    def line(self, b, trips, r=None, s=None):
        """What loops multiply of an array tile: PEs, iterations, steps of a PE; of each operand words of a PE; of each
        operand words, words delivered and those that are added up, in all passes or once for each tile."""
        t, passes, own = self.t, math.prod(trips), self.t.tiles(trips)
        line, sent = [math.prod(s or (1,)), math.prod(b) * passes, math.prod(r or (1,)) * passes], []
        for k in t.ops:
            words = t.delivered(k, b) if r is None else t.words(k, r)
            line.append(words)
            groups, pes = (1, 1) if r is None else (t.tiles(s)[k], math.prod(s))
            sent.append((words * (groups if k == t.written else pes), words * pes if k == t.partial else 0))
        for k, (delivered, added) in enumerate(sent):
            for visits in (passes, own[k]):
                line += [t.words(k, b) * visits, delivered * visits, added * visits]
        return tuple(line)

    def beaten(self, line, rest, out):
        """Whether what contains ``line``, times ``rest`` at least, may be better; ``out``: DRAM's energy and cycles."""
        t, x = self.t, [*map(int.__mul__, line, rest)]
        compute = t.iteration * max(x[2], -(-x[1] // t.pes))
        for prices, again, added, loads, shown, alone in self.cases:
            energy = out[0] + sum(map(int.__mul__, prices, x))
            if again:  # lemma Blocks: of a partial sum 2 * visits - tiles
                energy -= t.spm * line[again + 3] * rest[again] + t.noc * line[again + 4] * rest[again + 1]
            if added:
                energy += t.addition * max(0, line[added + 1] - line[added]) * rest[added]
            load = max([sum([x[i] // width for i, width in net]) for net in loads])
            cycles = compute + load if alone else max(compute, load)
            for i, width in shown:
                cycles = max(cycles, x[i] // width)
            if t.beats(energy, t.together(out[1], cycles), self.target):
                return True
        return False

    def case(self, stays):
        """What ``beaten`` needs to know if these operands stay: prices of a line, where a line holds the transfers of a
        partial sum that are less by once for each tile, and its additions, loads of networks, and of what stays."""
        t, first = self.t, 3 + len(self.t.ops)
        prices, again, added = [0] * (first + 6 * len(t.ops)), 0, 0
        at = [first + 6 * k + 3 * (k in stays) for k in t.ops]
        prices[1] = t.each
        for k, i in enumerate(at):
            twice = 2 if k == t.partial and not (t.zero and k in stays) else 1
            prices[i : i + 2] = twice * t.spm, twice * t.noc
            if k == t.partial:
                added, again = i + 1, i if t.zero and not (t.doubled or k in stays) else 0
        loads = [[(at[k], t.width[k]) for k in net if k not in stays] for net in t.networks]
        alone = not t.double or (t.exposed and t.partial >= 0 and t.partial not in stays)
        return prices, again, added, loads, [(at[k], t.width[k]) for k in stays], alone

    def array_closes(self, line, rest, out, room):
        if line[0] * rest[0] > self.t.pes:
            return True
        words = sum(map(int.__mul__, line[3 : 3 + len(self.t.ops)], rest[3:]))
        return words * self.t.m["word_bytes"] > room or not self.beaten(line, rest, out)

    def spm_line(self, c, trips):
        """What loops multiply of an SPM tile: 1; of each operand its words, these in all passes, or once for each."""
        words, passes, own = [self.t.words(k, c) for k in self.t.ops], math.prod(trips), self.t.tiles(trips)
        return (1, *words, *(n * passes for n in words), *map(int.__mul__, words, own))

    def spm_closes(self, line, rest, inside):
        t, n, x = self.t, len(self.t.ops), [*map(int.__mul__, line, rest)]
        word, bank = t.m["word_bytes"], t.m["bank_bytes"]
        if sum([-(-words * word // bank) for words in x[1 : n + 1]]) > t.banks:
            return True
        for prices, again, words in self.spm_cases:
            energy = inside[0] + sum(map(int.__mul__, prices, x))
            if again:  # lemma Blocks: of a partial sum 2 * visits - tiles
                energy -= t.dram * line[again + n] * rest[again]
            busy = math.floor(t.burst[1] * sum(map(int.__mul__, words, x)))
            if t.beats(energy, t.together(busy, inside[1]), self.target):
                return False
        return True

    def spm_case(self, stays):
        """What ``spm_closes`` needs to know if these operands stay: prices of a line, where the transfers of a partial
        sum are that are less by once for each tile, and how often a line's words cross."""
        t, n = self.t, len(self.t.ops)
        prices, words, again = [0] * (1 + 3 * n), [0] * (1 + 3 * n), 0
        for k in t.ops:
            at, first = 1 + n * (2 if k in stays else 1) + k, k == t.partial and t.zero
            prices[at] = t.dram * (2 if k == t.partial and not (first and k in stays) else 1)
            words[at] = 0 if k in stays else 2 if k == t.partial and (t.doubled or not t.zero) else 1
            again = at if first and k not in stays else again
        return prices, again, words

    def tiles(self, of):
        """The whole tile of one factor at each loop, others 1: for lines of blocks."""
        one = [1] * len(self.t.names)
        for j, n in of.items():
            one[j] = n
        return tuple(one)

    def lines(self, options, line):
        """For each block all choices of its loops [{loop: choice}, line]; ``options`` of a loop: (choice, factors)."""
        for block in self.blocks:
            rows = []
            for row in itertools.product(*(options[j] for j in block)):
                factors = [self.tiles(dict(zip(block, some))) for some in zip(*(factors for _, factors in row))]
                rows.append(({j: choice for j, (choice, _) in zip(block, row)}, line(*factors)))
            self.t.work(len(rows))
            yield rows

    def closes(self, bounds, out, what):
        t = self.t
        closed = not any(t.beats(e + out[0], t.together(out[1], y), self.target) for e, y in bounds)
        self.counts[what] += closed
        return closed

    def search(self):
        """Close every box, or find a mapping that is better; how many were closed as what."""
        t = self.t
        lines = [*self.lines([[(d, (c, d)) for d, c in least.items()] for least in self.dram], self.spm_line)]
        if not all(lines):
            return "0 array tiles"
        n = len(t.ops)
        least = functools.reduce(times, (tuple(map(min, zip(*(line for _, line in block)))) for block in lines))
        out = t.dram * sum(least[1 + 2 * n :]), 0
        tiles = [[(trips, (b, trips)) for trips, (b, _) in found.items()] for found in self.trips]
        room = t.pes * t.m["rf_bytes"]
        found = self.joined([*self.lines(tiles, self.line)], lambda *both: self.array_closes(*both, out, room))
        arrays = []
        for trips in found:
            b = tuple(one[n][0] for one, n in zip(self.trips, trips))
            bounds = [*t.inner(b, trips, *t.first_rows(b))]
            if not self.closes(bounds, out, "array tiles"):
                arrays.append((trips, bounds))
        if not arrays:
            return self.said()
        every = [one for _, bounds in arrays for one in bounds]
        inside = min(energy for energy, _ in every), min(cycles for _, cycles in every)
        found = self.joined(lines, lambda *both: self.spm_closes(*both, inside))
        outers = [(trips, t.outer(tuple(one[n] for one, n in zip(self.dram, trips)), trips)) for trips in found]
        outers = [(trips, out) for trips, out in outers if not self.closes([inside], out, "SPM tiles")]
        outers.sort(key=lambda row: row[1])
        fits = []  # of each loop and its trips: a bit for each SPM tile that goes with them
        for j, classes in enumerate(self.trips):
            at = {}
            for place, (trips, _) in enumerate(outers):
                at[trips[j]] = at.get(trips[j], 0) | 1 << place
            fits.append({n: sum(at.get(d, 0) for d in {d for split in splits for d in self.spm[j][split]})
                         for n, (_, splits) in classes.items()})
        for trips, bounds in arrays:
            t.work(1 + len(outers) // 16)
            mask = functools.reduce(int.__and__, (one[n] for one, n in zip(fits, trips)))
            above = []
            while mask:
                place = (mask & -mask).bit_length() - 1
                mask &= mask - 1
                if not self.closes(bounds, outers[place][1], "pairs of tiles"):
                    above.append(outers[place])
            if above:
                self.opened(trips, above)
        return self.said()

    def said(self):
        return ", ".join(f"{count} {what}" for what, count in self.counts.items())

    def opened(self, trips, above):
        """Split an array tile of so many trips; ``above``: SPM tiles that it may be part of."""
        t, out = self.t, tuple(map(min, zip(*(out for _, out in above))))
        options = [[((r, s), (r * s, n, r, s)) for r, s in one[n][1]] for one, n in zip(self.trips, trips)]
        blocks = [*self.lines(options, self.line)]
        room = t.m["rf_bytes"]
        for splits in self.joined(blocks, lambda *both: self.array_closes(*both, out, room)):
            r, s = zip(*splits)
            if not (t.holds(r, 1, room) and t.has_room(s)):
                continue
            b = times(r, s)
            bounds = [*t.inner(b, trips, *t.split(r, s))]
            if self.closes(bounds, out, "splits"):
                continue
            for outer, some in above:
                t.work()
                rows = [self.spm[j][split].get(d, ()) for j, (split, d) in enumerate(zip(splits, outer))]
                if not all(rows) or self.closes(bounds, some, "splits in SPM tiles"):
                    continue
                for inner in itertools.product(*rows):
                    one = r, s, inner, outer
                    least = t.outer(times(b, inner), outer)
                    if not self.closes(bounds, least, "splits in SPM tiles") and self.opens(*one):
                        self.raised(*one)

    def opens(self, r, s, inner, outer):
        """Price all orders of a mapping's factors; whether what contains it may be better (lemma Covers)."""
        t, c, opens = self.t, times(times(r, s), inner), False
        if not t.holds(c, t.m["bank_bytes"], t.banks):
            return False
        for spm, dram in itertools.product(t.stays("spm", inner), t.stays("dram", outer)):
            t.work()
            self.counts["mappings"] += 1
            better = t.beats(*t.cost(r, s, inner, outer, spm, dram), self.target)
            need(not better, f"there is a better mapping: RF tile {r}, PEs {s}, SPM tile {c}")
            opens = opens or (t.exposed and t.beats(*t.cost(r, s, inner, outer, spm, dram, True), self.target))
        return opens

    def raised(self, *factors):
        """Price what contains a mapping in register files and in space, one factor more by one at a time."""
        waiting, t = [factors], self.t
        while waiting:
            r, s, inner, outer = waiting.pop()
            for j in t.growing:
                ways = [(r[j] + 1, s[j])] * (r[j] > 1) + [(r[j], s[j] + n) for n in divisors(s[j])[:-1]]
                for more in ways:
                    one = (*r[:j], more[0], *r[j + 1 :]), (*s[:j], more[1], *s[j + 1 :]), inner, outer
                    whole = math.prod(more) * inner[j] * outer[j]
                    if one in self.seen or whole >= 2 * t.bounds[j] or math.prod(one[1]) > t.pes:
                        continue
                    self.seen.add(one)
                    may = more[0] in t.allowed["rf"][j] and more[1] in t.allowed["spatial"][j]
                    if may and t.holds(one[0], 1, t.m["rf_bytes"]) and t.has_room(one[1]) and self.opens(*one):
                        waiting.append(one)


def check(problem, claim, evidence):
    tiling, status = Tiling(problem), claim["status"]
    rule, mapping = fields(evidence, "rule", "mapping")
    need(rule == "boxes", "needs the rule boxes", "malformed")
    if status == "infeasible":
        need([mapping, claim["value"], claim["bound"]] == [None] * 3, "nothing has no value", "malformed")
        return f"infeasible; closed: {tiling.search(None)}"
    value, bound = rational(claim["value"]), rational(claim["bound"])
    unit = 1 if tiling.m["energy"] == "rounded" or tiling.objective == 2 else tiling.per_pj
    need(tiling.value(mapping) == value * unit, "the mapping has another value")
    need(bound == value or (status == "bounded" and bound < value), "value and bound are not as claimed")
    return f"{status} {value}, bound {bound}; closed: {tiling.search(math.ceil(bound * unit))}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
