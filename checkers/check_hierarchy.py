"""Check proofs of hierarchies: ``python -I check_hierarchy.py FILE``. It imports nothing of mapper and trusts nothing.

Exit code: 0 all certified, 1 one refuted, 2 malformed, 3 not certified. Exact numbers, only the standard library.

Levels 0 (outermost) to L - 1 keep operands; c_b are the trips in time of all loops from level b inwards, so that c_0 is
what loops in space leave of the bounds, c_b / c_(b+1) are the trips at level b, and s_b those in space below it. What
levels keep and all s_b are an arrangement; each is closed, or opened level by level from outside. A link of an operand
goes from a level that keeps it to the next one inside. W words arrive at an instance of its inner level, whose tile has
w; N are the moments outside that tile. Energy is a sum over links, each of which grows with W; so do cycles.
Run: let the tile move first by a loop m, and R be the product of the trips inside m, of loops that do not index it.
  If m moves a dimension of its own (one that no other loop indexes), W = w*N/R: steps of other loops could bring less
  only if they moved the tile by just as much as m (or as nothing, for R > 1), and in a dimension of its own each step
  exceeds the sum of all steps inside it.
Slide: otherwise, for R = 1, t trips of m and a tile that keeps words when m turns, so that n < w are new,
  W = N/t*(w + (t-1)*n) if no step equals 2m and steps between, else W >= n*N + (w-n)*N/(trips of all loops that share
  a dimension with m), as all others bring it whole.
Coincide: otherwise W = w*N/R, if no step equals m and steps between, else W >= w*(1 + (t-1)/t*N/R).
Orders: of a level's order only run and m of each operand count; loops that move none that still stays come next.
Kept: whichever loop is innermost outside a tile, operands that it indexes cross as if nothing stayed, and the others at
  least once for each tile that differs (half as often, where steps may coincide).
Least: the levels inside cost at least the minimum over all tiles inside.
Smallest: a level's tile has at least the trips given inside, and what levels outside cannot take of the bounds.
Neighbours: words are handed on only below the last level, where loops that share a dimension run in space, or by steps
  that coincide.
Equal: values are equal if they differ by no more than one part in 1e9; optimal means that nothing is less than that.
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

KIND = "hierarchy"
TRUSTED = "cost model as in Hierarchy.cost; lemmas Run, Slide, Coincide, Orders, Kept, Least, Smallest, Neighbours"


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
SIZE, NUMBER, FLAG, MOST_STEPS = range(1, 1 << 50), range(1 << 90), (True, False), 30_000_000
OBJECTIVES = ("least EDP in pJ*cycles", "least energy in pJ", "least latency in cycles")
STEPS_PER_PJ, SAME = 10**9, 10**9  # energies are integers of 1e-9 pJ; values are equal to one part in so many
RATES = {sort: [Fraction, 0, 1] for sort in ("read", "write", "shared")}  # words a cycle of an instance; []: any
LEVEL = {
    "name": str, "words": [range(1 << 50), 0, 1], "block": SIZE, "cluster": SIZE, "rates": RATES,
    "innermost": [str, 0, 24],
    "energy": dict.fromkeys(("read", "fill", "update", "leak"), NUMBER), "keep": [str, 0, 8], "may": [str, 0, 8],
    "fanout": {"x": SIZE, "y": SIZE, "multicast": FLAG, "reduction": FLAG},
    "most": {way: {"": SIZE} for way in ("time", "x", "y")}, "exact": {way: {"": SIZE} for way in ("time", "space")},
}  # fmt: skip
OPERAND = {"name": str, "written": FLAG, "zero_initialised": FLAG, "index": [{"": range(-1 << 40, 1 << 40)}, 1, 8]}
COMPUTE = {"rate": SIZE, "energy": NUMBER, "leak": NUMBER}
RULES = {"first_read": ("elided", "counted"), "first_fill": ("elided", "counted"), "link_transfers": FLAG}
RULES["throttling"] = ("exact", "floating")
PROBLEM = {"objective": OBJECTIVES, "loops": {"": range(1, 1 << 31)}, "operands": [OPERAND, 1, 8], "rules": RULES}
PROBLEM |= {"levels": [LEVEL, 1, 16], "compute": COMPUTE, "most_cycles": [range(1 << 62), 0, 1]}


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
        need(0 < value <= 10**15 and value.denominator <= 10**40, "needs numbers up to 1e15", "malformed")
    elif shape is not str or type(value) is not str:
        need(any(type(value) is type(one) and value == one for one in shape), f"needs one of {shape}", "malformed")
    return value


def over(one, other):
    return tuple(x // y for x, y in zip(one, other))


def times(one, other):
    return tuple(x * y for x, y in zip(one, other))


def up(number, by):
    return -(-number // by)


def divisors(n):
    return sorted({d for i in range(1, math.isqrt(n) + 1) if n % i == 0 for d in (i, n // i)})


class Hierarchy:
    """The problem, and what its mappings cost (Timeloop's dense model [Parashar2019])."""

    def __init__(self, problem):
        p = read(problem, PROBLEM)
        self.objective, self.levels, self.rules = OBJECTIVES.index(p["objective"]), p["levels"], p["rules"]
        self.most_cycles = (p["most_cycles"] or [math.inf])[0]
        self.compute, self.depth, self.work_done = p["compute"], len(p["levels"]), 0
        self.names, self.bounds = [*p["loops"]], (*p["loops"].values(),)
        at, operands = self.names.index, p["operands"]
        need(self.names and math.prod(self.bounds) <= 10**30, "has no loops or too many iterations", "malformed")
        self.loops, self.ops = range(len(self.names)), range(len(operands))
        self.tensors = [one["name"] for one in operands]
        need(len({*self.tensors}) == len(self.ops), "two operands have one name", "malformed")
        self.dims = [[{at(loop): f for loop, f in index.items() if f} for index in one["index"]] for one in operands]
        signs = [{f > 0 for f in dim.values()} for dims in self.dims for dim in dims]
        need(all(len(one) < 2 for one in signs), "loops run through a dimension both ways", "not certified")
        # Of loops that turn at all, those that move an operand, and dimensions that several of them move.
        self.dims = [[{j: abs(f) for j, f in dim.items()} for dim in dims] for dims in self.dims]
        turning = [[{j for j in dim if self.bounds[j] > 1} for dim in dims] for dims in self.dims]
        self.own = [frozenset().union(*dims) for dims in turning]
        self.shared = [[d for d, dim in enumerate(dims) if len(dim) > 1] for dims in turning]
        self.single = [frozenset(j for dim in dims if len(dim) == 1 for j in dim) for dims in turning]
        self.written = [one["written"] for one in operands]
        self.first = [one["written"] and one["zero_initialised"] for one in operands]
        every = [*self.ops]
        self.must, self.may = (
            [{self.tensors.index(name) for name in one[key]} for one in p["levels"]] for key in ("keep", "may")
        )
        self.must[0] = self.may[0] = {*every}
        self.order = [tuple(map(at, one["innermost"])) for one in p["levels"]]
        self.room = [(one["words"] or [math.inf])[0] for one in p["levels"]]
        self.most = [
            {way: {at(loop): n for loop, n in own.items()} for way, own in one["most"].items()} for one in p["levels"]
        ]
        self.exact = [
            {way: {at(loop): n for loop, n in own.items()} for way, own in one["exact"].items()} for one in p["levels"]
        ]
        self.present = [
            math.prod(one["fanout"]["x"] * one["fanout"]["y"] for one in p["levels"][:b]) for b in range(self.depth)
        ]
        self.rates = [[(one["rates"][sort] or [None])[0] for sort in RATES] for one in p["levels"]]
        self.limited = any(rate for own in self.rates for rate in own)
        self.outcomes, self.apart = functools.cache(self.outcomes), functools.cache(self.apart)

    def work(self, steps=1):
        self.work_done += steps
        need(self.work_done <= MOST_STEPS, f"takes more than {MOST_STEPS} steps", "not certified")

    def box(self, k, tile):
        return [1 + sum(f * (tile[j] - 1) for j, f in dim.items()) for dim in self.dims[k]]

    def words(self, k, tile):
        return math.prod(self.box(k, tile))

    def moves(self, k, j, trips):  # by how much a loop moves an operand's tile, if it has so many iterations inside
        return tuple(dim.get(j, 0) * trips for dim in self.dims[k])

    def allows(self, b, way, j, n):  # way: time, or space with both axes together
        return n <= self.most[b][way].get(j, n) and self.exact[b][way].get(j, n) == n

    def pays(self, b, instances):  # instances that pay for an access, since clusters share it
        return min(instances, max(1, self.present[b] // self.levels[b]["cluster"]))

    def charge(self, link, instances, parts, reads, arriving, updates):
        """Energy of a link, and the words that it moves: read and updated outside, filled inside."""
        k, o, i = link
        outer, energy = self.levels[o], 0
        reads = max(0, reads - (parts[o] if self.first[k] and self.rules["first_read"] == "elided" else 0))
        energy = up(reads, outer["block"]) * outer["energy"]["read"]
        if self.written[k]:
            energy += up(updates, outer["block"]) * outer["energy"]["update"]
        energy *= self.pays(o, instances[o])
        filled = 0
        if i < self.depth:
            inner = self.levels[i]
            filled = max(0, arriving - (parts[i] if self.first[k] and self.rules["first_fill"] == "elided" else 0))
            energy += up(filled, inner["block"]) * inner["energy"]["fill"] * self.pays(i, instances[i])
        return energy, reads, updates if self.written[k] else 0, filled

    def least_cycles(self, compute, moved):
        """Cycles of computing, or of the level that takes longest; at least those in floating point."""
        cycles = compute
        for rates, (reads, writes) in zip(self.rates, moved):
            for rate, words in zip(rates, (reads, writes, reads + writes)):
                if rate and self.rules["throttling"] == "exact":
                    cycles = max(cycles, math.ceil(words / rate))
                elif rate:
                    cycles = max(cycles, math.ceil(words / rate * Fraction(10**12 - 1, 10**12)))
        return cycles

    def worth(self, energy, cycles):  # of what takes longer than it may: more than anything
        return (energy * cycles, energy, cycles)[self.objective] if cycles <= self.most_cycles else math.inf

    # ---- What one mapping costs, exactly.

    def visits(self, box, steps, reused):
        """The moments that bring words to a tile: how many, words, what is new, what the moment before brought, and how
        far the tile has moved since; under loops (trips, offset) outer to inner."""
        area = math.prod(box)
        found = [(1, area, "all", None, None)]
        if not steps:
            return found
        trips, by = steps[-1]
        kept = math.prod(max(0, extent - abs(one)) for extent, one in zip(box, by)) if reused else 0
        new = ("some", by) if kept and any(by) else "all"
        new, fresh = ("none", 0) if reused and not any(by) else (new, area - kept)
        inside, moved = (0,) * len(by), []
        for _, own in reversed(steps):
            moved.append(tuple(x - y for x, y in zip(own, inside)))
            inside = tuple(x + y for x, y in zip(own, inside))
        outside, earlier = 1, [(1, "all")]
        for (n, _), shift in zip(steps[:-1], reversed(moved[1:])):
            steady = reused and shift == by
            found.append(((n - 1) * outside, fresh if steady else area, new if steady else "all", new, shift))
            earlier.append((found[-1][0], found[-1][2]))
            outside *= n
        return found + [((trips - 1) * weight, fresh, new, before, by) for weight, before in earlier]

    def delivered(self, k, b, box, steps, space):
        """Words read at level b for one instance of it, words that arrive below, and those that neighbours hand on."""
        fanout, places, reads, arrive, linked = self.levels[b]["fanout"], [(0,) * len(box)], 0, 0, 0
        together = fanout["reduction" if self.written[k] else "multicast"]
        for n, by, _ in space:
            places = [tuple(x + turn * y for x, y in zip(place, by)) for place in places for turn in range(n)]
            self.work(len(places))
        columns = max(fanout["x"], math.prod(n for n, _, axis in space if axis == "x"))
        rows = max(fanout["y"], math.prod(n for n, _, axis in space if axis == "y"))
        for weight, words, new, before, shift in self.visits(box, steps, b + 1 < self.depth):
            left = places
            if self.rules["link_transfers"] and before == new and weight and words and space:
                left, groups = [], len({*places}) if together else len(places)
                for number, place in enumerate(places):
                    x, y, earlier = number % columns, number // columns, tuple(map(sum, zip(place, shift)))
                    beside = [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
                    beside = [
                        row * columns + column for column, row in beside if 0 <= column < columns and 0 <= row < rows
                    ]
                    if not any(one < len(places) and places[one] == earlier for one in beside):
                        left.append(place)
                if (len({*left}) if together else len(left)) < groups:
                    linked += (len(places) - len(left)) * words * weight
                else:
                    left = places
            reads += (len({*left}) if together else len(left)) * words * weight
            arrive += len(left) * words * weight
        return reads, arrive, linked

    def cost(self, keep, time, space):
        """Energy and cycles. Loops of a level stand outer to inner: ``time`` as (loop, trips), ``space`` with axes."""
        instances, tile, tiles, spread = [1], (1,) * len(self.names), [], []
        for own in space:
            instances.append(instances[-1] * math.prod(n for _, n, _ in own))
        passes = math.prod(n for own in time for _, n in own)
        compute, energy, moved = up(passes, self.compute["rate"]), 0, [[] for _ in self.levels]
        for b in reversed(range(self.depth)):
            steps = []
            for own in (space[b], time[b]):
                rows, count = [], [*tile]
                for j, n, *_ in reversed(own):
                    rows.insert(0, count[j])
                    count[j] *= n
                steps.append(rows)
                tile = (*count,)
                if own is space[b]:
                    spread.insert(0, tile)
            tiles.insert(0, (tile, *steps))
        for k in self.ops:
            above, crossing = [], []
            for b in range(self.depth):
                above += [(n, self.moves(k, j, at)) for (j, n), at in zip(time[b], tiles[b][2]) if n > 1]
                around = [(n, self.moves(k, j, at), axis) for (j, n, axis), at in zip(space[b], tiles[b][1]) if n > 1]
                inner = tiles[b + 1][0] if b + 1 < self.depth else (1,) * len(self.names)
                crossing.append(self.delivered(k, b, self.box(k, inner), above, around))
            reads, linked = [Fraction(one[0]) for one in crossing], [one[2] for one in crossing]
            parts = [self.words(k, tiles[0][0])]
            for b in range(1, self.depth):
                here = self.words(k, tiles[b][0])
                parts.append(
                    parts[-1] * here // (self.words(k, spread[b - 1]) if instances[b] > instances[b - 1] else here)
                )
            for b in reversed(range(1, self.depth)):  # what bypasses a level is served by the next one outside
                if k not in keep[b]:
                    arriving, fan = crossing[b - 1][1], instances[b] // instances[b - 1]
                    reads[b - 1], linked[b - 1] = (
                        reads[b] * fan * reads[b - 1] / arriving if arriving else Fraction(0),
                        0,
                    )
            kept = [b for b in range(self.depth) if k in keep[b]]
            for b in kept:
                level, zero = self.levels[b], self.first[k]
                peer = Fraction(linked[b - 1], instances[b]) if b else Fraction(0)
                share = Fraction(crossing[b - 1][1], instances[b] // instances[b - 1]) if b else Fraction(0)
                less = parts[b] if zero and self.rules["first_read"] == "elided" else 0
                read_words = max(0, math.floor(reads[b] + peer - less + Fraction(1, 2)))
                if not b or not zero or self.rules["first_fill"] == "counted":
                    fills = math.floor(share + peer)
                else:
                    fills = max(0, math.floor(share + peer - parts[b] + Fraction(1, 2)))
                updates = math.floor(reads[b] + Fraction(1, 2)) if self.written[k] else 0
                actions = zip((read_words, fills, updates), ("read", "fill", "update"))
                own = sum(up(words, level["block"]) * level["energy"][name] for words, name in actions)
                energy += own * self.pays(b, instances[b])
                moved[b].append((read_words, fills + updates))
        cycles = max([compute, *(self.level_cycles(b, compute, own) for b, own in enumerate(moved))])
        return energy + passes * instances[-1] * self.compute["energy"] + self.leak(keep, instances) * cycles, cycles

    def level_cycles(self, b, compute, moved):
        reads, writes = [read for read, _ in moved], [write for _, write in moved]
        if self.rules["throttling"] == "exact":
            sums = [[sum(reads), sum(writes)]]
            return self.least_cycles(compute, [(0, 0)] * b + sums)
        slowdown = 1.0
        for rate, demands in zip(self.rates[b], ([reads], [writes], [writes, reads])):
            if rate:
                demand = 0.0
                for one in demands:
                    own = 0.0
                    for words in one:
                        own += words / compute
                    demand += own
                slowdown = min(slowdown, float(rate) / demand) if float(rate) < demand else slowdown
        return math.ceil(compute / slowdown)

    def leak(self, keep, instances):  # in a cycle
        leaking = [one["energy"]["leak"] * (instances[b] if keep[b] else 1) for b, one in enumerate(self.levels)]
        return sum(leaking) + self.compute["leak"] * instances[-1]

    def value(self, mapping):
        """What a mapping is worth that keeps every rule."""
        need(type(mapping) is list and len(mapping) == self.depth, "the mapping has other levels", "malformed")
        keep, time, space, left, tile = [], [], [], self.bounds, (1,) * len(self.names)
        for b, (one, level) in enumerate(zip(mapping, self.levels)):
            name, kept, temporal, spatial = fields(one, "level", "keep", "temporal", "spatial")
            need(name == level["name"], "the mapping has other levels")
            keep.append({self.tensors.index(tensor) for tensor in kept})
            time.append([(self.names.index(loop), whole(n, 1)) for loop, n in temporal])
            space.append([(self.names.index(loop), whole(n, 1), axis) for loop, n, axis in spatial])
            need(self.must[b] <= keep[b] <= self.may[b], f"{name} keeps what it may not, or not what it must")
            ways = [("time", time[b]), *((axis, [one for one in space[b] if one[2] == axis]) for axis in "xy")]
            need(len(space[b]) == len(ways[1][1]) + len(ways[2][1]), "an axis is neither x nor y", "malformed")
            for way, loops in ways:
                trips = collections.Counter({j: n for j, n, *_ in loops})
                need(len(trips) == len(loops), f"a loop stands twice at {name}")
                need(
                    all(n <= self.most[b][way].get(j, n) for j, n in trips.items()),
                    f"{name} has too many trips of a loop",
                )
                need(
                    way == "time" or math.prod(trips.values()) <= level["fanout"][way],
                    f"too many instances below {name}",
                )
            for way, loops in (("time", time[b]), ("space", space[b])):
                for j, n in self.exact[b][way].items():
                    need(math.prod(one[1] for one in loops if one[0] == j) == n, f"{name} has other trips than given")
            turning = [j for j, n in reversed(time[b]) if n > 1]
            given = [j for j in self.order[b] if j in turning]
            need(turning[: len(given)] == given, f"the loops of {name} are in another order than given")
        for b in reversed(range(self.depth)):
            for j, n, *_ in (*time[b], *space[b]):
                tile = (*tile[:j], tile[j] * n, *tile[j + 1 :])
            need(
                sum(self.words(k, tile) for k in keep[b]) <= self.room[b], f"tiles do not fit {self.levels[b]['name']}"
            )
        need(tile == left, "factors do not multiply to the bounds")
        found = self.worth(*self.cost(keep, time, space))
        need(found < math.inf, "the mapping takes longer than it may")
        return found

    # ---- What no mapping undercuts.

    def outcomes(self, turning, order):
        """Lemma Orders: for every operand the run inside the loop that moves it first, and that loop (-1: in a
        dimension of its own); None if no loop of the level moves it."""
        found = {}

        def grow(left, last, placed, ends):
            alive = [k for k in self.ops if k not in ends and self.own[k] & left]
            free = frozenset(j for j in left if not any(j in self.own[k] for k in alive))
            if not alive:
                found[tuple(ends.get(k) for k in self.ops)] = None
            elif placed and free and not last:
                grow(left - free, last, placed | free, ends)
            else:
                for j in last[:1] or left:
                    moved = {k: (placed, -1 if j in self.single[k] else j) for k in alive if j in self.own[k]}
                    grow(left - {j}, last[1:], placed | {j}, ends | moved)

        grow(turning, tuple(j for j in order if j in turning), frozenset(), {})

        def beats(one, other):
            return all(
                x == y or (x and y and x[1] == y[1] and x[0] >= y[0] and (y[0] or x[1] < 0)) for x, y in zip(one, other)
            )

        self.work(len(found) ** 2)
        return [one for one in found if not any(other != one and beats(other, one) for other in found)]

    def apart(self, ways, steps, outer):
        """Whether no step of other loops, of this level (``steps``) or further out (multiples of ``outer``), equals
        ``ways`` and steps between."""
        within = any(step == ways or (len(steps) > 1 and step > ways) for step in steps)
        return not (within or (outer and (ways + sum(steps)) % math.gcd(*outer) == 0))

    def arrangements(self):
        """What levels keep, with the loops in space below each."""
        spaces = [(self.bounds, ())]
        for b, level in enumerate(self.levels):
            grown = []
            for left, chosen in spaces:
                ways = {(1, 1): {()}}
                for j in self.loops:
                    wider = collections.defaultdict(set)
                    for (x, y), rows in ways.items():
                        for across in divisors(left[j]):
                            if x * across > level["fanout"]["x"] or across > self.most[b]["x"].get(j, across):
                                continue
                            for down in divisors(left[j] // across):
                                fits = y * down <= level["fanout"]["y"] and down <= self.most[b]["y"].get(j, down)
                                if fits and self.exact[b]["space"].get(j, across * down) == across * down:
                                    wider[x * across, y * down] |= {(*row, across * down) for row in rows}
                    ways = wider
                    self.work(sum(map(len, ways.values())))
                rows = {row for own in ways.values() for row in own}
                grown += [(over(left, row), (*chosen, row)) for row in rows]
            spaces = grown
        optional = [(b, k) for b in range(self.depth) for k in sorted(self.may[b] - self.must[b])]
        need(len(optional) <= 16, "leaves too much open what levels keep", "not certified")
        for chosen in itertools.product(FLAG, repeat=len(optional)):
            extra = {one for one, is_kept in zip(optional, chosen) if is_kept}
            keep = [self.must[b] | {k for level, k in extra if level == b} for b in range(self.depth)]
            for rest, space in spaces:
                yield Arrangement(self, keep, space, rest)

    def misfit(self):
        """Why there is no mapping, where a level or a loop says so by itself (lemma Smallest); None if none does."""
        tile, outside = (1,) * len(self.names), [(1,) * len(self.names)]
        for most, level in zip(self.most, self.levels):
            wide = [min(n, most["x"].get(j, n), level["fanout"]["x"]) for j, n in enumerate(self.bounds)]
            high = [min(n, most["y"].get(j, n), level["fanout"]["y"]) for j, n in enumerate(self.bounds)]
            time = [min(n, most["time"].get(j, n)) for j, n in enumerate(self.bounds)]
            outside.append(times(outside[-1], times(time, times(wide, high))))
        for b in reversed(range(self.depth)):
            given = self.exact[b]
            tile = tuple(n * given["time"].get(j, 1) * given["space"].get(j, 1) for j, n in enumerate(tile))
            least = tuple(max(n, up(bound, most)) for n, bound, most in zip(tile, self.bounds, outside[b]))
            words = {self.tensors[k]: self.words(k, least) for k in sorted(self.must[b])}
            if sum(words.values()) > self.room[b]:
                return f"{self.levels[b]['name']}: the smallest tiles take {words} of {self.room[b]} words"
            if not self.must[b] <= self.may[b]:
                return f"{self.levels[b]['name']}: must keep what it may not"
        for j, most in enumerate(outside[-1]):
            if most < self.bounds[j]:
                return f"{self.names[j]}: the trips that are allowed multiply to {most} at most"
        return None

    def search(self, target):
        """Close every arrangement, or find a better mapping (with None any is); how many were closed as what."""
        counts, seen, reason = collections.Counter(), [], self.misfit()
        if reason:
            need(target is None, f"there is no mapping: {reason}")
            return reason
        for one in self.arrangements():
            self.work()
            if one.is_closed(target):
                counts["arrangements by their operations and words"] += 1
            else:
                seen.append(one)
        for one in sorted(seen, key=lambda one: one.bound):
            one.open(target, counts)
        return ", ".join(f"{count} {what}" for what, count in counts.items()) or "nothing"


class Arrangement:
    """What levels keep, and the instances of each loop in space below them."""

    def __init__(self, h, keep, space, rest):
        self.h, self.keep, self.space, self.rest = h, keep, space, rest
        self.instances, self.inside = [1], [(1,) * len(rest)]
        for own in space:
            self.instances.append(self.instances[-1] * math.prod(own))
        for own in reversed(space):
            self.inside.insert(0, times(self.inside[0], own))
        passes = math.prod(rest)
        self.compute = up(passes, h.compute["rate"])
        self.leak, self.links = h.leak(keep, self.instances), []
        self.base = passes * self.instances[-1] * h.compute["energy"]
        moved, least, self.handed = [[0, 0] for _ in space], 0, False
        for k in h.ops:
            kept = [b for b in range(h.depth) if k in keep[b]]
            for link in ((k, o, i) for o, i in zip(kept, [*kept[1:], h.depth])):
                row = self.row(link)
                self.handed |= row[3] or row[4]
                words = passes if link[2] == h.depth else self.least_words(link)
                energy = self.charge(row, words, moved)
                if link[2] == h.depth:
                    self.base += energy
                else:
                    self.links.append((*row, words))
                    least += energy
        self.moved = tuple(map(tuple, moved)) if h.limited else ()
        self.bound = self.worth(self.base + least, self.moved)

    def row(self, link):
        """A link, the most words of the operand that its ends are responsible for, the fewest different tiles below an
        instance of its outer level, and whether neighbours may hand words on: always, or where steps coincide."""
        (k, o, i), h = link, self.h
        parts = [h.words(k, times(self.rest, self.inside[0]))]
        plain = all(sum(dim.values()) < 2 for dim in h.dims[k])
        for own in self.space[:-1]:
            parts.append(parts[-1] // (math.prod(own[j] for j in h.own[k]) if plain else 1))
        positions, always, coinciding = 1, False, False
        for b in range(o, i):
            own, fan = self.space[b], math.prod(self.space[b])
            window = any(own[j] > 1 for d in h.shared[k] for j in h.dims[k][d])
            loose = h.rules["link_transfers"] and h.shared[k] and any(own[j] > 1 for j in h.loops if j not in h.own[k])
            always |= h.rules["link_transfers"] and fan > 1 and (b + 1 == h.depth or window)
            coinciding |= bool(loose) and b + 1 == i
            if not h.levels[b]["fanout"]["reduction" if h.written[k] else "multicast"]:
                positions *= 1 if loose else fan
            elif not loose:
                seen = set()  # Of dimensions that a loop has in common only one: places may lie on a diagonal.
                for dim in h.dims[k]:
                    some = {j for j in dim if own[j] > 1}
                    if not some & seen:
                        positions *= 1 + sum(own[j] - 1 for j in some)
                        seen |= some
        return link, parts, positions, always, coinciding

    def charge(self, row, words, moved=None):
        link, parts, positions, always, *_ = row
        _, o, i = link
        words = 0 if always else words
        energy, reads, updates, fills = self.h.charge(
            link, self.instances, parts, positions * words, words, positions * words
        )
        if moved is not None:
            moved[o][0] += reads
            moved[o][1] += updates
            if i < self.h.depth:
                moved[i][1] += fills
        return 0 if self.h.objective == 2 else energy

    def least_words(self, link):  # lemma Run: all tiles that differ in a dimension of one loop
        k, _, i = link
        return self.h.words(k, self.inside[i]) * math.prod(self.rest[j] for j in self.h.single[k])

    def worth(self, energy, moved):
        cycles = self.h.least_cycles(self.compute, moved)
        return self.h.worth(energy + self.leak * cycles, cycles)

    def is_closed(self, target):
        return self.bound >= (math.inf if target is None else target)

    # ---- The tiles of each level.

    def lattices(self):
        """Tiles of every level that levels inside and outside can make up, and that fit; None if there are none."""
        h, found = self.h, []
        values = [divisors(n) for n in self.rest]
        inner, outer = [[{1} for _ in h.loops]], [[{n} for n in self.rest]]
        for b in reversed(range(h.depth)):
            fits = [
                {d for d in ds for e in own if d % e == 0 and h.allows(b, "time", j, d // e)}
                for j, (ds, own) in enumerate(zip(values, inner[0]))
            ]
            inner.insert(0, fits)
        for b in range(h.depth - 1):
            fits = [
                {d for d in ds for e in own if e % d == 0 and h.allows(b, "time", j, e // d)}
                for j, (ds, own) in enumerate(zip(values, outer[-1]))
            ]
            outer.append(fits)
        for b in range(h.depth):
            ways = [sorted(one & other) for one, other in zip(inner[b], outer[b])]
            h.work(math.prod(map(len, ways)))
            kept = self.keep[b]
            fits = [
                c
                for c in itertools.product(*ways)
                if sum(h.words(k, times(c, self.inside[b])) for k in kept) <= h.room[b]
            ]
            if not fits:
                return None
            found.append(fits)
        return found

    def kept(self, b, c):
        """Lemma Kept: what the links that end at a tile cost at least, whichever loop is the innermost outside."""
        h, tile, trips = self.h, times(c, self.inside[b]), over(self.rest, c)
        moments, rows = math.prod(trips), []
        for row in self.ending[b]:
            k = row[0][0]
            whole, differ = h.words(k, tile), math.prod(trips[j] for j in h.own[k])
            twice = any(sum(trips[j] > 1 for j in h.dims[k][d]) > 1 for d in h.shared[k])
            stays = whole + whole * differ // 2 if twice and differ > 1 else whole * differ
            rows.append((row, k, whole, self.charge(row, stays)))
        innermost = [j for j in h.loops if trips[j] > 1]
        if not innermost:
            return sum(self.charge(row, whole) for row, _, whole, _ in rows)
        return min(
            sum(
                stays if j not in h.own[k] else self.charge(row, self.crossing(row, b, c, j, whole, trips, moments))
                for row, k, whole, stays in rows
            )
            for j in innermost
        )

    def crossing(self, row, b, c, j, whole, trips, moments):
        """Words that arrive at least if the innermost loop outside moves the tile (lemmas Run and Slide)."""
        h, k = self.h, row[0][0]
        if j in h.single[k] or not h.shared[k]:
            return whole * moments
        stays = self.staying(k, b, c, h.moves(k, j, c[j] * self.inside[b - 1][j]))
        if not stays:
            return whole + whole * moments // 2 if row[4] else whole * moments
        return (whole - stays) * moments + stays * (moments // self.sharing(k, j, trips))

    def staying(self, k, b, c, step):  # words of a tile that are still in it after a step
        return math.prod(max(0, extent - by) for extent, by in zip(self.h.box(k, times(c, self.inside[b])), step))

    def sharing(self, k, m, trips):  # trips of all loops that share a dimension with m
        loops = {j for dim in self.h.dims[k] if m in dim for j in dim}
        return math.prod(trips[j] for j in loops)

    def floors(self, lattices):
        """Of every level and tile the least that its links and those further inside cost; and the least of all tiles
        inside, for all divisors of what is left of the bounds (lemma Least)."""
        h, depth = self.h, self.h.depth
        every = sorted(itertools.product(*(divisors(n) for n in self.rest)), key=math.prod)
        primes = [[p for p in divisors(n) if len(divisors(p)) == 2] for n in self.rest]
        own, inside = (
            [{} for _ in range(depth)],
            [{c: 0 for c in every} if b == depth else {} for b in range(depth + 1)],
        )
        for b in reversed(range(1, depth)):
            fits, below, least = {*lattices[b]}, inside[b + 1], inside[b]
            h.work(len(every))
            for c in every:
                found = math.inf
                if c in fits and below[c] < math.inf:
                    found = own[b][c] = (self.kept(b, c) if self.ending[b] else 0) + below[c]
                for j, n in enumerate(c):
                    for p in primes[j] if n > 1 else ():
                        if n % p == 0:
                            found = min(found, least[(*c[:j], n // p, *c[j + 1 :])])
                least[c] = found
        return own, inside

    # ---- The levels, from outside in.

    def open(self, target, counts):
        """Close the arrangement level by level, or find a better mapping."""
        lattices = self.lattices()
        if lattices is None:
            counts["arrangements by rooms"] += 1
            return
        self.ending = [[row for row in self.links if row[0][2] == b] for b in range(self.h.depth)]
        self.own, self.least = self.floors(lattices)
        floor = min(self.own[1].values(), default=math.inf) if self.h.depth > 1 else 0
        if self.worth(self.base + floor, self.moved) >= (math.inf if target is None else target):
            counts["arrangements by floors"] += 1
            return
        self.target, self.counts = target, counts
        if self.leaves(apart=False):
            need(
                self.settled(self.leaves(apart=True)),
                "steps may coincide, or neighbours hand words on",
                "not certified",
            )
        counts["arrangements by tiles"] += 1

    def closes(self, energy, cycles):
        energy += self.leak * cycles
        return self.h.worth(energy, cycles) >= (math.inf if self.target is None else self.target)

    def leaves(self, apart):
        """What is not closed when all tiles are known: chains of tiles. Of equal states of a level one goes on, unless
        they are to be kept ``apart``."""
        h, start = self.h, tuple((1, None) for _ in self.h.ops)
        states = {(self.rest, start, self.moved, None): (self.base, (self.rest,))}
        for b in range(h.depth - 1):
            more = {k for (k, _, i), *_ in self.links if i > b + 1}
            found, children = {}, {}
            for (c, stays, moved, _), (energy, chain) in states.items():
                cycles = h.least_cycles(self.compute, moved) if h.limited else self.compute
                if c not in children:
                    ways = [[d for d in divisors(n) if h.allows(b, "time", j, n // d)] for j, n in enumerate(c)]
                    children[c] = [one for one in itertools.product(*ways) if one in self.own[b + 1]]
                    h.work(math.prod(map(len, ways)))
                for child in children[c]:
                    if self.closes(energy + self.own[b + 1][child], cycles):
                        continue
                    ahead = self.least[b + 2][child]
                    for now, price, words in self.turned(b, c, child, stays, moved):
                        after = h.least_cycles(self.compute, words) if h.limited else cycles
                        self.counts["tiles"] += 1
                        if self.closes(energy + price + ahead, after):
                            continue
                        now = tuple(one if k in more else None for k, one in enumerate(now))
                        key = child, now, words, chain if apart else None
                        if key not in found or found[key][0] > energy + price:
                            found[key] = energy + price, (*chain, child)
            states = found
        return {chain for _, chain in states.values()}

    def turned(self, b, c, child, stays, moved):
        """For each outcome of the orders of a level what stays of each operand, the energy of links that end at the
        child, and words moved."""
        h, trips = self.h, over(c, child)
        turning = frozenset(j for j, n in enumerate(trips) if n > 1)
        outside, area = over(self.rest, child), math.prod(trips)
        moments = math.prod(outside)
        ending = [(row, h.words(row[0][0], times(child, self.inside[b + 1]))) for row in self.ending[b + 1]]
        prices = {}
        for outcome in h.outcomes(turning, h.order[b]):
            h.work()
            now, energy, words = [], 0, [[*own] for own in moved]
            for k, (one, before) in enumerate(zip(outcome, stays)):
                if one is None:
                    now.append(before and (before[0] * area if before[1] is not None else 1, before[1]))
                else:
                    run, m = one
                    kept = math.prod(trips[j] for j in run)
                    now.append((kept, m if m < 0 else self.first(k, b, c, child, trips, m)))
            for row, whole in ending:
                k = row[0][0]
                key = row[0], now[k]
                if key not in prices:
                    arriving = self.arriving(row, b + 1, child, whole, outside, moments, *now[k])
                    delta = [[0, 0] for _ in moved]
                    price = self.charge(row, arriving, delta or None)
                    if moved:
                        less = [[0, 0] for _ in moved]
                        self.charge(row, row[5], less)
                        delta = [(x - u, y - v) for (x, y), (u, v) in zip(delta, less)]
                    prices[key] = price, delta
                price, delta = prices[key]
                energy += price
                for own, (reads, writes) in zip(words, delta):
                    own[0] += reads
                    own[1] += writes
            yield tuple(now), energy, tuple(map(tuple, words))

    def first(self, k, b, c, child, trips, m):
        """The loop that moves a tile first: its trips and step, itself, and whether no steps coincide with it, or with
        twice its own (lemmas Coincide and Slide)."""
        h = self.h
        at = times(child, times(self.inside[b + 1], self.space[b]))
        apart = [False, False]
        for d in h.shared[k]:
            dim = h.dims[k][d]
            if m in dim:
                step = dim[m] * at[m]
                steps = tuple(sorted(dim[j] * at[j] for j in dim if j != m and trips[j] > 1))
                outer = tuple(dim[j] * c[j] * self.inside[b][j] for j in dim if self.rest[j] > c[j])
                apart = [one or h.apart(ways, steps, outer) for one, ways in zip(apart, (step, 2 * step))]
        return trips[m], h.moves(k, m, at[m]), m, *apart

    def arriving(self, row, b, c, whole, outside, moments, run, m):
        """Words that arrive at an instance at least (lemmas Run, Slide and Coincide)."""
        if m is None:
            return whole
        if m == -1:
            return whole * moments // run
        k, (trips, step, j, apart, twice) = row[0][0], m
        stays = self.staying(k, b, c, step) if run == 1 else 0
        if not stays:
            if apart or (run == 1 and not row[4]):
                return whole * moments // run
            return whole + whole * (trips - 1) * (moments // run // trips)
        if twice:
            return moments // trips * (whole + (trips - 1) * (whole - stays))
        return (whole - stays) * moments + stays * (moments // self.sharing(k, j, outside))

    def settled(self, chains):
        """Whether no order of the loops of these chains of tiles is better; False if that remains open."""
        h = self.h
        if self.handed:
            return False
        space = [[(j, n, "x") for j, n in enumerate(own) if n > 1] for own in self.space]
        for chain in chains:
            trips = [over(c, d) for c, d in zip(chain, (*chain[1:], (1,) * len(self.rest)))]
            orders = []
            for b, own in enumerate(trips):
                given = [j for j in h.order[b] if own[j] > 1]
                others = [j for j, n in enumerate(own) if n > 1 and j not in given]
                ways = itertools.permutations(others) if b + 1 < h.depth else [others]
                orders.append([[(j, own[j]) for j in (*outer, *reversed(given))] for outer in ways])
            if math.prod(map(len, orders)) > 20_000:
                return False
            for time in itertools.product(*orders):
                h.work(100)
                found = h.worth(*h.cost(self.keep, time, space))
                better = found < (math.inf if self.target is None else self.target)
                need(
                    not better,
                    f"there is a better mapping: in time {self.said(time)}, in space {self.said(space)}, "
                    f"kept {[sorted(h.tensors[k] for k in own) for own in self.keep]}",
                )
        return True

    def said(self, levels):
        return [{self.h.names[j]: n for j, n, *_ in own} for own in levels]


def check(problem, claim, evidence):
    hierarchy, status = Hierarchy(problem), claim["status"]
    rule, mapping = fields(evidence, "rule", "mapping")
    need(rule == "arrangements", "needs the rule arrangements", "malformed")
    if status == "infeasible":
        need([mapping, claim["value"], claim["bound"]] == [None] * 3, "nothing has no value", "malformed")
        return f"infeasible: {hierarchy.search(None)}"
    value, bound = rational(claim["value"]), rational(claim["bound"])
    unit = 1 if hierarchy.objective == 2 else STEPS_PER_PJ
    need(hierarchy.value(mapping) == value * unit, "the mapping has another value")
    need(bound == value or (status == "bounded" and bound < value), "value and bound are not as claimed")
    least = bound * unit * (1 - Fraction(1, SAME) if status == "optimal" else 1)
    return f"{status} {value}, bound {bound}; closed: {hierarchy.search(math.ceil(least))}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
