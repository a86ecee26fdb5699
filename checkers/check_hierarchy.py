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

Where a bound B may grow to any B' with B <= B' < 2B, trips need not divide it.
Needs: a loop with s trips in space and g_0, g_1 ... in time leaves r_0 = ceil(B/s), r_(b+1) = ceil(r_b/g_b) to levels
  inside: their trips multiply to r_b at least. f_b = ceil(r_b/r_(b+1)) are trips, too, none above g_b: they multiply to
  r_0 at least, and to less than 2B/s, as f_b <= (r_b-1)/(r_(b+1)-1) and the last r_b that is not 1 equals its f_b. The
  same loops run: were f_b = 1 < g_b, then r_b = 1, and half of B' < 2B would cover B. So whatever grows with trips is
  no less for a mapping than for its chain of needs r, of which there are few. In space, of trips at a level that leave
  the same need the fewest are enough.
Growth: w, the places below a fan-out, N, N/R, and n (of sides e and steps d the product of e less that of max(0, e-d))
  grow with trips, so all bounds above do that hold whatever steps coincide, with (w-n)*N/T + n*N = w*N/T + n*(N - N/T)
  for T trips that share a dimension. Sums that are not read are Y of Y*q words, where Y and q are products of trips
  if each dimension of what is written has one loop that moves it word by word; otherwise, and of loops with given
  trips, each size is looked at by itself. Cycles are at least those that are not rounded, less one part in 1e12.
  Orders that are closed since steps of these very trips do not coincide, or one by one, close what has the same trips
  of loops that share a dimension (``sliding``); then these have one more, while bounds that grow are too low.

Where factors are imperfect, slots of a loop (trips in time and space, outer to inner) are radices in which its
iterations are counted; those beyond the bound do not exist, and the outermost slot has no more trips than it must.
Digits: a level and instance take the chunks whose digits exist, so what a cut says multiplies over loops. Of s trips in
  space, units compute at ceil(B/s) moments at least; of one loop's instances more than half have a chunk.
Once: each word that an instance uses arrives there at least once, and leaves outside once for all that share it.
Again: let p be the innermost place outside a link at which a loop turns that moves the operand, and D be digits at
  places outside p of loops that do not move it. When one of them turns, p begins again: the tile goes back, which no
  innermost loop does, and is brought whole. When another loop turns, what stays was in the tile one step behind. This
  one is there, earlier and with the same D: an outer loop that goes on as far as the innermost one does lets a tile
  stay only if the loops that move it and begin again have passes of one size. So all words arrive once for each D.
Innermost: some loop is the innermost to turn at the level of p. If it moves the operand, D has all digits there.
Halo: if no loop moves two dimensions, all that stays when loops turn lies along one dimension d: an outer loop that
  goes on as far as the innermost one moves d, too, or nothing, and none that moves another dimension begins again. So
  tiles bring all places of d for each choice of chunks in the others. Where loops of bounds B and steps f have n chunks
  each, N combinations in all, the sides of these add up to N*(1 + sum f*(B/n - 1)), which is linear in each n.
Meet: words that several loops move in a dimension differ along each one alone, so at most all trips but those of one
  loop take the same word at a moment.
Cells of cuts have the least of each number; they are halved until they are closed or single cuts.
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
LEMMAS = "Run, Slide, Coincide, Orders, Kept, Least, Smallest, Neighbours, Needs, Growth"
LEMMAS += ", Digits, Once, Again, Innermost, Halo, Meet"
TRUSTED = f"cost model as in Hierarchy.cost; lemmas {LEMMAS}"


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
PROBLEM["growing"] = [str, 0, 24]  # loops of a bound B that may run to any B' with B <= B' < 2B
PROBLEM["imperfect"] = FLAG  # factors need not divide


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


@functools.cache
def divisors(n):
    return sorted({d for i in range(1, math.isqrt(n) + 1) if n % i == 0 for d in (i, n // i)})


@functools.cache
def needs(n):
    """What is left of a bound, rounded up, when loops further outside take any number of trips (lemma Needs)."""
    few = range(1, math.isqrt(n) + 2)  # of trips and what they leave one is no more
    return sorted({up(n, f) for f in few} | {v for v in few if up(n, up(n, v)) == v})


class Hierarchy:
    """The problem, and what its mappings cost (Timeloop's dense model [Parashar2019])."""

    def __init__(self, problem):
        if type(problem) is dict:
            problem = {"growing": [], "imperfect": False} | problem  # earlier problems say neither
        p = read(problem, PROBLEM)
        self.objective, self.levels, self.rules = OBJECTIVES.index(p["objective"]), p["levels"], p["rules"]
        self.most_cycles = (p["most_cycles"] or [math.inf])[0]
        self.compute, self.depth, self.work_done = p["compute"], len(p["levels"]), 0
        self.names, self.bounds = [*p["loops"]], (*p["loops"].values(),)
        at, operands = self.names.index, p["operands"]
        grown = {at(name) for name in p["growing"]}
        self.largest = tuple(2 * n - 1 if j in grown else n for j, n in enumerate(self.bounds))
        need(self.names and math.prod(self.largest) <= 10**30, "has no loops or too many iterations", "malformed")
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
        shy = Fraction(1) if self.rules["throttling"] == "exact" else Fraction(10**12 - 1, 10**12)
        self.paces = [[rate and (shy / rate).as_integer_ratio() for rate in own] for own in self.rates]
        self.limited = any(rate for own in self.rates for rate in own)
        self.outcomes, self.apart = functools.cache(self.outcomes), functools.cache(self.apart)
        self.sorted(grown & {j for j, n in enumerate(self.bounds) if n > 1})

    def sorted(self, grown):
        """Loops that grow: those along which all bounds grow (``free``; of these ``sliding`` ones meet others in a
        dimension, or move several), and those of which each size is looked at by itself (``sized``)."""
        moving = [[j for j in self.loops if self.bounds[j] > 1 for dim in dims if j in dim] for dims in self.dims]
        plain = all(
            len({*own}) == len(own) and all(sum(f for j, f in dim.items() if j in own) < 2 for dim in dims)
            for own, dims, written in zip(moving, self.dims, self.written)
            if written
        )
        given = {j for level in self.exact for way in level.values() for j, n in way.items() if n > 1}
        self.plain = plain
        self.free = frozenset(grown - given if plain else ())
        self.sized = sorted(grown - self.free)
        meeting = {j for k, own in enumerate(self.own) for j in own - self.single[k]}
        twice = {j for own in moving for j in own if own.count(j) > 1}
        self.sliding = self.free & (meeting | twice)
        self.blocks = []  # of loops that meet in a dimension of some operand, or by others that do
        turning = {j for j, n in enumerate(self.bounds) if n > 1}
        for j in turning:
            meets = {j}.union(*(turning & {*dim} for dims in self.dims for dim in dims if j in dim))
            joined = [own for own in self.blocks if own & meets]
            self.blocks = [own for own in self.blocks if not own & meets] + [meets.union(*joined)]
        self.blocks = [sorted(own) for own in self.blocks]

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
        for rates, (reads, writes) in zip(self.paces, moved):
            for rate, words in zip(rates, (reads, writes, reads + writes)):
                if rate:
                    cycles = max(cycles, up(words * rate[0], rate[1]))
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
        keep, time, space, last, tile = [], [], [], [], (1,) * len(self.names)
        for b, (one, level) in enumerate(zip(mapping, self.levels)):
            name, kept, temporal, spatial = fields(one, "level", "keep", "temporal", "spatial")
            need(name == level["name"], "the mapping has other levels")
            keep.append({self.tensors.index(tensor) for tensor in kept})
            time.append([(self.names.index(loop), whole(n, 1)) for loop, n, *_ in temporal])
            space.append([(self.names.index(loop), whole(n, 1), axis) for loop, n, axis, *_ in spatial])
            last += [*temporal, *spatial]
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
                sum(self.words(k, [*map(self.tile, tile, self.bounds)]) for k in keep[b]) <= self.room[b],
                f"tiles do not fit {self.levels[b]['name']}",
            )
        self.covers(tile, last)
        found = self.worth(*self.cost(keep, time, space))
        need(found < math.inf, "the mapping takes longer than it may")
        return found

    def covers(self, tile, loops):
        """That the loops of a mapping, which make so many iterations, are those of the bounds."""
        covered = all(n <= size <= most for n, size, most in zip(self.bounds, tile, self.largest))
        need(covered, "factors do not multiply to the bounds")
        whole_passes = all(type(one[-1]) is str or len(one) == 2 for one in loops)
        need(whole_passes, "last passes are smaller", "malformed")

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

    def spread(self, b, left):
        """The loops in space below a level, if these trips are left."""
        level, ways = self.levels[b], {(1, 1): {()}}
        for j in self.loops:
            wider = collections.defaultdict(set)
            for (x, y), rows in ways.items():
                most = min(level["fanout"]["x"] // x, self.most[b]["x"].get(j, left[j]))
                for across in self.factors(j, left[j], most):
                    most = min(level["fanout"]["y"] // y, self.most[b]["y"].get(j, left[j]))
                    for down in self.factors(j, left[j] // across, most):
                        if self.exact[b]["space"].get(j, across * down) == across * down:
                            wider[x * across, y * down] |= {(*row, across * down) for row in rows}
            ways = wider
            self.work(sum(map(len, ways.values())))
        return {row for own in ways.values() for row in own}

    def factors(self, j, left, most):  # a loop may have so many trips
        return range(1, min(left, most) + 1) if j in self.free else [d for d in divisors(left) if d <= most]

    def arrangements(self):
        """What levels keep, with the loops in space below each."""
        spaces = [(self.size, ())]
        for b in range(self.depth):
            grown, seen = [], {}
            for left, chosen in spaces:
                if left not in seen:
                    seen[left] = self.spread(b, left)
                rows = seen[left]
                # Lemma Needs: of trips with the same need the fewest.
                for j in () if self.rules["link_transfers"] else self.free - self.sliding:
                    fewest, taken = {}, math.prod(own[j] for own in chosen)
                    for row in sorted(rows):
                        fewest.setdefault((row[:j], row[j + 1 :], up(self.bounds[j], taken * row[j])), row)
                    rows = fewest.values()
                grown += [(over(left, row), (*chosen, row)) for row in rows]
                self.work(len(rows))
            spaces = grown
        optional = [(b, k) for b in range(self.depth) for k in sorted(self.may[b] - self.must[b])]
        need(len(optional) <= 16, "leaves too much open what levels keep", "not certified")
        for chosen in itertools.product(FLAG, repeat=len(optional)):
            extra = {one for one, is_kept in zip(optional, chosen) if is_kept}
            keep = [self.must[b] | {k for level, k in extra if level == b} for b in range(self.depth)]
            for left, space in spaces:
                yield self.arranged(keep, left, space)

    def arranged(self, keep, left, space):
        rest = tuple(
            up(n, math.prod(own[j] for own in space)) if j in self.free else left[j] for j, n in enumerate(self.bounds)
        )
        return Arrangement(self, keep, space, rest, self.free)

    def tile(self, size, _bound):  # iterations of so many trips
        return size

    def misfit(self):
        """Why there is no mapping, where a level or a loop says so by itself (lemma Smallest); None if none does."""
        tile, outside = (1,) * len(self.names), [(1,) * len(self.names)]
        for most, level in zip(self.most, self.levels):
            wide = [min(n, most["x"].get(j, n), level["fanout"]["x"]) for j, n in enumerate(self.size)]
            high = [min(n, most["y"].get(j, n), level["fanout"]["y"]) for j, n in enumerate(self.size)]
            time = [min(n, most["time"].get(j, n)) for j, n in enumerate(self.size)]
            outside.append(times(outside[-1], times(time, times(wide, high))))
        for b in reversed(range(self.depth)):
            given = self.exact[b]
            tile = tuple(n * given["time"].get(j, 1) * given["space"].get(j, 1) for j, n in enumerate(tile))
            least = (max(n, up(bound, most)) for n, bound, most in zip(tile, self.bounds, outside[b]))
            least = [*map(self.tile, least, self.bounds)]
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
        """Close every arrangement of all sizes, or find a better mapping (with None any is); how many as what."""
        counts, reasons, bounds = collections.Counter(), {}, self.bounds
        for sizes in itertools.product(*(range(bounds[j], self.largest[j] + 1) for j in self.sized)):
            chosen = dict(zip(self.sized, sizes))
            self.bounds = tuple(chosen.get(j, n) for j, n in enumerate(bounds))
            self.size = tuple(self.largest[j] if j in self.free else n for j, n in enumerate(self.bounds))
            reason = self.misfit()
            if reason:
                reasons[reason] = None
                continue
            seen = []
            for one in self.arrangements():
                self.work()
                if one.is_closed(target):
                    counts["arrangements by their operations and words"] += 1
                else:
                    seen.append(one)
            for one in sorted(seen, key=lambda one: one.bound):
                one.open(target, counts)
        need(target is None or counts, f"there is no mapping: {', '.join(reasons)}")
        return ", ".join([*(f"{count} {what}" for what, count in counts.items()), *reasons][:9]) or "nothing"


class Arrangement:
    """What levels keep, the instances of each loop in space below them, and the trips in time: of loops that are
    ``free`` to grow those that cover the bound at least."""

    def __init__(self, h, keep, space, rest, free=frozenset()):
        self.h, self.keep, self.space, self.rest, self.free = h, keep, space, rest, free
        self.loose = bool(free & h.sliding)
        self.instances, self.inside = [1], [(1,) * len(rest)]
        for own in space:
            self.instances.append(self.instances[-1] * math.prod(own))
        for own in reversed(space):
            self.inside.insert(0, times(self.inside[0], own))
        self.leak, self.links, self.core, self.bases = h.leak(keep, self.instances), [], [], {}
        moved, least, self.handed = [[0, 0] for _ in space], 0, False
        passes = math.prod(rest)
        for k in h.ops:
            kept = [b for b in range(h.depth) if k in keep[b]]
            for link in ((k, o, i) for o, i in zip(kept, [*kept[1:], h.depth])):
                row = self.row(link)
                self.handed |= row[3] or row[4]
                words = passes if link[2] == h.depth else self.least_words(link)
                row = (*row, words, self.charge(row, words, moved))
                if link[2] == h.depth:
                    self.core.append(row)
                else:
                    self.links.append(row)
                    least += row[6]
        self.base, self.compute = self.based(rest)
        self.moved = tuple(map(tuple, moved)) if h.limited else ()
        self.bound = self.worth(self.base + least, self.moved)

    def based(self, size):
        """What operations and the words at the innermost levels cost for so many trips in time, and the cycles."""
        if size not in self.bases:
            passes = math.prod(size)
            energy = passes * self.instances[-1] * self.h.compute["energy"]
            energy += sum(self.charge(row, passes, size=size) for row in self.core)
            self.bases[size] = energy, up(passes, self.h.compute["rate"])
        return self.bases[size]

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

    def charge(self, row, words, moved=None, size=None):
        (k, o, i), parts, positions, always, *_ = row
        if size not in (None, self.rest) and self.h.first[k]:  # Lemma Growth: sums that are not read grow with trips.
            grown, least = (math.prod(one[j] for j in self.h.own[k]) for one in (size, self.rest))
            parts = [part * grown // least for part in parts]
        words = 0 if always else words
        energy, reads, updates, fills = self.h.charge(
            (k, o, i), self.instances, parts, positions * words, words, positions * words
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

    def ways(self, j, n):  # what a level leaves of a loop's trips
        return needs(n) if j in self.free else divisors(n)

    def lattices(self):
        """Of every level and loop the trips inside that levels inside and outside can make up; None if no tiles fit."""
        h = self.h
        values = [self.ways(j, n) for j, n in enumerate(self.rest)]
        steps = [{n: {*self.ways(j, n)} for n in own} for j, own in enumerate(values)]
        inner, outer = [[{1} for _ in h.loops]], [[{n} for n in self.rest]]
        for b in reversed(range(h.depth)):
            inner.insert(0, [
                {d for d in values[j] for e in own & steps[j][d] if h.allows(b, "time", j, up(d, e))}
                for j, own in enumerate(inner[0])
            ])  # fmt: skip
        for b in range(h.depth - 1):
            outer.append([
                {d for e in own for d in steps[j][e] if h.allows(b, "time", j, up(e, d))}
                for j, own in enumerate(outer[-1])
            ])  # fmt: skip
        found = [[sorted(one & other) for one, other in zip(*both)] for both in zip(inner, outer)]
        for b, own in enumerate(found):
            if not all(own) or not self.fits(b, tuple(ways[0] for ways in own)):
                return None
        return found

    def fits(self, b, c):
        return sum(self.h.words(k, times(c, self.inside[b])) for k in self.keep[b]) <= self.h.room[b]

    def kept(self, b, c, others):
        """Lemma Kept: what the links that end at a tile cost at least, whichever loop is the innermost outside;
        infinite if with all ``others`` that is nothing less than the target. And by that loop."""
        h, tile, trips = self.h, times(c, self.inside[b]), tuple(map(up, self.rest, c))
        moments, rows, size, prices = math.prod(trips), [], times(c, trips), {}
        for row in self.ending[b]:
            k = row[0][0]
            whole, differ = h.words(k, tile), math.prod(trips[j] for j in h.own[k])
            twice = any(sum(trips[j] > 1 for j in h.dims[k][d]) > 1 for d in h.shared[k])
            rows.append((row, k, whole, whole + whole * differ // 2 if twice and differ > 1 else whole * differ))
        base, compute = self.based(size)
        found = {}
        for j in [j for j in h.loops if trips[j] > 1] or [None]:
            words = tuple(
                stays if j not in h.own[k] else self.crossing(row, b, c, j, whole, trips, moments)
                for row, k, whole, stays in rows
            )
            if words not in prices:
                moved = [[*own] for own in self.moved] if self.moved else None
                price_of, prices[words] = 0, math.inf
                for (row, *_), one in zip(rows, words):
                    price, delta = self.priced(row, one, size)
                    price_of += price
                    for own, (reads, writes) in zip(moved or (), delta):
                        own[0] += reads
                        own[1] += writes
                cycles = h.least_cycles(compute, moved) if moved else compute
                if not self.closes(base + others + price_of, cycles):
                    prices[words] = price_of
            found[j] = prices[words]
        return min(found.values()), found

    def priced(self, row, words, size):
        """What a link costs, and the words that it moves beyond those that it moves in any case."""
        if not self.moved:
            return self.charge(row, words, size=size), ()
        more, less = [[0, 0] for _ in self.moved], [[0, 0] for _ in self.moved]
        price = self.charge(row, words, more, size)
        self.charge(row, row[5], less)
        return price, [(x - u, y - v) for (x, y), (u, v) in zip(more, less)]

    def limits(self, b, others):
        """What links that end at a level must stay below: (least, [(a, g) for each link]), where a link that brings Y
        words for each of q moments costs Y*(a*q - g) at least."""
        h, target = self.h, math.inf if self.target is None else self.target
        cycles, found, rows = h.least_cycles(self.compute, self.moved), [], self.ending[b]
        if target < math.inf and h.objective != 2:
            most = (target - 1 if h.objective else (target - 1) // cycles) - self.leak * cycles
            prices = []
            for (_, o, i), *_ in rows:
                outer, inner = h.levels[o], h.levels[i]
                pays = h.pays(o, self.instances[o])
                prices.append((
                    Fraction(outer["energy"]["read"] * pays, outer["block"]),
                    Fraction(outer["energy"]["update"] * pays, outer["block"]),
                    Fraction(inner["energy"]["fill"] * h.pays(i, self.instances[i]), inner["block"]),
                ))  # fmt: skip
            found.append((most - self.base - others + 1, prices))
        if self.moved and h.objective != 1:
            most = h.most_cycles
            if target < math.inf:
                energy = self.base + others + sum(row[6] for row in rows) + self.leak * cycles
                most = min(most, target - 1 if h.objective else (target - 1) // max(1, energy))
            for level in {o for (_, o, _), *_ in rows} | {b} if most < math.inf else ():
                for sort, rate in enumerate(h.rates[level]):
                    if rate:
                        less = [[0, 0] for _ in self.moved]
                        for row in rows:
                            self.charge(row, row[5], less)
                        reads, writes = (x - y for x, y in zip(self.moved[level], less[level]))
                        words = math.floor(most * rate * Fraction(10**12 + 2, 10**12)) + 1
                        words -= (reads, writes, reads + writes)[sort]
                        way = (sort != 1, sort != 0)
                        prices = [(way[0] * (o == level), way[1] * (o == level), way[1] * (i == level))
                                  for (_, o, i), *_ in rows]  # fmt: skip
                        found.append((words, prices))
        return [self.linear(b, *one) for one in found]

    def linear(self, b, least, prices):
        """The same, of what a word costs that is read, updated and filled, in integers."""
        h, rows = self.h, []
        for row, (read, update, fill) in zip(self.ending[b], prices):
            (k, o, i), parts, positions, always, *_ = row
            a = positions * (read + h.written[k] * update) + fill
            g = (h.first[k] and h.rules["first_read"] == "elided") * read * parts[o]
            g += (h.first[k] and h.rules["first_fill"] == "elided") * fill * parts[i]
            if not h.plain:
                least, g = least + g, 0
            words = math.prod(self.rest[j] * self.inside[b][j] for j in h.own[k])
            rows.append((Fraction(0), Fraction(0)) if always else (Fraction(a), Fraction(g) / words))
        scale = math.lcm(*(one.denominator for row in rows for one in row))
        return least * scale, [(int(a * scale), int(g * scale)) for a, g in rows]

    def options(self, b, lattice):
        """Loops that meet in a dimension are a block: for each block its trips, the words of each operand's tile, and
        for each loop that may be the innermost outside the factors (Y, q) of what each link brings."""
        h, rows, found = self.h, self.ending[b], []
        alike = {}
        for j in h.loops:
            if self.rest[j] > 1:
                key = tuple((j in h.own[k], j in h.own[k] - h.single[k] and j) for (k, *_), *_ in rows)
                alike.setdefault(key, j)
        innermost = [*alike.values()] or [None]
        for block in h.blocks:
            own = []
            h.work(math.prod(len(lattice[j]) for j in block) * len(innermost))
            for chosen in itertools.product(*(lattice[j] for j in block)):
                c = [1] * len(self.rest)
                for j, n in zip(block, chosen):
                    c[j] = n
                c = tuple(c)
                trips = [up(self.rest[j], c[j]) if j in block else 1 for j in h.loops]
                moments, words, factors = math.prod(trips), [], [[] for _ in innermost]
                for row in rows:
                    k = row[0][0]
                    tile = times(c, self.inside[b])
                    whole = math.prod(
                        extent for extent, dim in zip(h.box(k, tile), h.dims[k]) if any(j in block for j in dim)
                    )
                    words.append(whole)
                    mine = [j for j in block if j in h.own[k]]
                    differ = math.prod(trips[j] for j in mine)
                    twice = any(sum(trips[j] > 1 for j in h.dims[k][d]) > 1 for d in h.shared[k])
                    for j, out in zip(innermost, factors):
                        if j not in h.own[k]:
                            out.append((max(whole, whole * differ // 2) if twice else whole * differ, 1))
                        elif not mine:
                            out.append((1, moments))
                        elif j in block and j not in h.single[k]:
                            out.append((self.sliding(row, b, c, j, block, whole, trips, moments), 1))
                        else:
                            out.append((whole * differ, moments // differ))
                own.append((chosen, words, factors))
            found.append(own)
        return innermost, found

    def sliding(self, row, b, c, j, block, whole, trips, moments):
        k, h = row[0][0], self.h
        box, step = h.box(k, times(c, self.inside[b])), h.moves(k, j, c[j] * self.inside[b - 1][j])
        stays = math.prod(
            max(0, extent - by) for extent, by, dim in zip(box, step, h.dims[k]) if any(one in block for one in dim)
        )
        if not stays:
            return max(whole, whole * moments // 2) if row[4] else whole * moments
        return (whole - stays) * moments + stays * (moments // self.sharing(k, j, trips))

    def tiles(self, b, lattice, others):
        """The tiles of a level with what they cost at least (lemma Kept), but for those that cost too much."""
        h, limits, found = self.h, self.limits(b, others), {}
        innermost, blocks = self.options(b, lattice)
        rows, many = [*range(len(self.ending[b]))], [*range(len(innermost))]
        order = sorted(range(len(blocks)), key=lambda one: -len(blocks[one]))
        # What the blocks behind take of words and factors at least.
        least = [([1] * len(rows), [[(1, 1)] * len(rows) for _ in many])]
        for place in reversed(order):
            words, factors = least[0]
            own = blocks[place]
            least.insert(0, (
                [words[k] * min(one[1][k] for one in own) for k in rows],
                [[tuple(factors[a][k][x] * min(one[2][a][k][x] for one in own) for x in (0, 1)) for k in rows]
                 for a in many],
            ))  # fmt: skip
        room, c = h.room[b], [1] * len(self.rest)

        def grow(depth, words, ways):
            if depth == len(order):
                tile = tuple(c)
                price = self.kept(b, tile, others)
                h.work(5)
                if price[0] < math.inf:
                    found[tile] = price
                return
            place, (behind, factors) = order[depth], least[depth + 1]
            options = blocks[place]
            h.work(len(options))
            for chosen, own, ways_of in options:
                bigger = [x * y for x, y in zip(words, own)]
                if sum(x * y for x, y in zip(bigger, behind)) > room:
                    continue
                left = []
                for a, pairs in ways:
                    grown = [(y * v, q * w) for (y, q), (v, w) in zip(pairs, ways_of[a])]
                    for most, prices in limits:
                        total = 0
                        for (y, q), (v, w), (x, g) in zip(grown, factors[a], prices):
                            total += y * v * max(0, x * q * w - g)
                        if total >= most:
                            break
                    else:
                        left.append((a, grown))
                if left:
                    for j, n in zip(h.blocks[place], chosen):
                        c[j] = n
                    grow(depth + 1, bigger, left)

        grow(0, [1] * len(rows), [(a, [(1, 1)] * len(rows)) for a in many])
        return found

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

    # ---- The levels, from outside in.

    def open(self, target, counts):
        """Close the arrangement level by level, or find a better mapping."""
        self.target, self.counts = target, counts
        self.lattice = self.lattices()
        if self.lattice is None:
            counts["arrangements by rooms"] += 1
            return
        self.end()
        if not self.floors():
            counts["arrangements by floors"] += 1
            return
        chains = self.leaves(apart=True) if self.leaves(apart=False) else ()
        if chains and not self.free:
            self.settle(chains)
        for chain in chains if self.free else ():
            self.rise(chain)
        counts["arrangements by tiles"] += 1

    def end(self):
        self.ending = [[row for row in self.links if row[0][2] == b] for b in range(self.h.depth)]

    def floors(self):
        """Of every level at which links end the tiles that may be of use: what these links cost at least, and what
        those further inside do; False if there are none."""
        h, found = self.h, {}
        least = {b: sum(row[6] for row in rows) for b, rows in enumerate(self.ending) if rows}
        for b in sorted(least, reverse=True):
            found[b] = self.tiles(b, self.lattice[b], sum(least.values()) - least[b])
            if not found[b]:
                return False
            least[b] = min(price for price, _ in found[b].values())
        self.own, inside = {}, None
        for b in sorted(least, reverse=True):
            outer = sum(one for level, one in least.items() if level < b)
            self.own[b] = {}
            for c, (price, prices) in found[b].items():
                further = 0
                if inside is not None:
                    place = next((n for n, (_, other) in enumerate(inside) if all(map(int.__le__, other, c))), None)
                    further = math.inf if place is None else inside[place][0]
                    h.work((place or len(inside)) // 8 + 1)
                if not self.closes(self.base + outer + price + further, self.compute):
                    self.own[b][c] = price + further, prices, further
            if not self.own[b]:
                return False
            inside = sorted((one, c) for c, (one, *_) in self.own[b].items())
        return True

    def closes(self, energy, cycles):
        energy += self.leak * cycles
        return self.h.worth(energy, cycles) >= (math.inf if self.target is None else self.target)

    def children(self, b, c):
        """The tiles inside a tile: what links that end there or further inside cost at least, and those further in."""
        h, ways = self.h, [[*self.ways(j, n)] for j, n in enumerate(c)]
        able = [{d for d in own if h.allows(b, "time", j, up(c[j], d))} for j, own in enumerate(ways)]
        if b + 1 in self.own:
            h.work(len(self.own[b + 1]))
            own = self.own[b + 1].items()
            return [(child, *least) for child, least in own if all(d in one for d, one in zip(child, able))]
        able = [sorted(own & {*lattice}) for own, lattice in zip(able, self.lattice[b + 1])]
        h.work(math.prod(map(len, able)))
        inside = min((level for level in self.own if level > b), default=None)
        further = 0 if inside is None else min(one for one, *_ in self.own[inside].values())
        return [(child, further, {}, further) for child in itertools.product(*able)]

    def leaves(self, apart):
        """What is not closed when all tiles are known: for each level the trips outside. Of equal states of a level one
        goes on, with the least of each, unless they are to be kept ``apart``."""
        h, once = self.h, (1,) * len(self.rest)
        states = {((once,), tuple((1, None) for _ in h.ops), 0): (0, self.moved, (once,))}
        for b in range(h.depth - 1):
            more = {k for (k, _, i), *_ in self.links if i > b + 1}
            found, children = {}, {}
            for (_, stays, _), (energy, moved, chain) in states.items():
                outside = chain[-1]
                c = tuple(map(up, self.rest, outside))
                if c not in children:
                    children[c] = self.children(b, c)
                for child, least, prices, ahead in children[c]:
                    trips = tuple(map(up, c, child))
                    grown = times(outside, trips)
                    base, compute = self.based(times(grown, child))
                    cycles = h.least_cycles(compute, moved)
                    self.counts["tiles"] += 1
                    h.work()
                    if prices and child != c:
                        least = ahead + min(price for j, price in prices.items() if trips[j] > 1)
                    if self.closes(base + energy + least, cycles):
                        continue
                    for now, price, words in self.turned(b, c, child, grown, trips, stays, moved):
                        now = tuple(one if k in more else None for k, one in enumerate(now))
                        key = (*chain, grown) if apart else (grown,), now, words if apart else 0
                        one = energy + price, words, (*chain, grown)
                        if self.closes(base + one[0] + ahead, h.least_cycles(compute, words)):
                            continue
                        if key in found and not apart:
                            other, beside, way = found[key]
                            words = tuple((min(x, u), min(y, v)) for (x, y), (u, v) in zip(words, beside))
                            one = min(other, one[0]), words, way
                        if key not in found or one[0] < found[key][0] or not apart:
                            found[key] = one
            states = found
        return {chain for _, _, chain in states.values()}

    def rise(self, chain):
        """Close all mappings that run the same loops as a chain and have no fewer trips of any (lemmas Growth, Needs):
        this one, and where that does not close them, one more trip at a time while bounds that grow leave them open."""
        h, levels = self.h, [*map(over, chain[1:], chain)]
        levels.append(tuple(map(up, self.rest, chain[-1])))
        sizes = tuple(math.prod(own) for own in zip(*self.space))
        waiting, seen = [tuple(levels)], set()
        while waiting:
            levels = waiting.pop()
            if levels in seen:
                continue
            seen.add(levels)
            h.work(20)
            size = tuple(math.prod(own) for own in zip(*levels))
            allowed = all(h.allows(b, "time", j, n) for b, own in enumerate(levels) for j, n in enumerate(own))
            if not allowed or any(n * s > most for n, s, most in zip(size, sizes, h.size)):
                continue
            one = Arrangement(h, self.keep, self.space, size)
            if one.is_closed(self.target):
                continue
            raised = one.follows(levels, self.target, self.counts)
            self.counts["chains of tiles one by one"] += 1
            for b, own in enumerate(levels):
                for j in raised:
                    if own[j] > 1:
                        more = (*own[:j], own[j] + 1, *own[j + 1 :])
                        waiting.append((*levels[:b], more, *levels[b + 1 :]))

    def follows(self, levels, target, counts):
        """Close this one chain of tiles; the loops of which more trips may be better all the same: none if bounds close
        it that grow, those that slide, or all if cycles are rounded."""
        self.target, self.counts, self.own = target, counts, {}
        self.end()
        outside = (1,) * len(self.rest)
        for b, own in enumerate(levels):
            c = over(self.rest, outside)
            if not self.fits(b, c):
                return ()
            self.own[b], outside = {c: (0, {}, 0)}, times(outside, own)
        for loose in (True, False) if self.h.sliding else (False,):
            self.loose, chains = loose, self.leaves(apart=True)
            if not chains:
                return () if loose else self.h.sliding
        self.settle(chains)
        rounded = self.h.limited and self.h.rules["throttling"] == "floating"
        return self.h.free if rounded else self.h.sliding

    def settle(self, chains):
        need(self.settled(chains), "steps may coincide, or neighbours hand words on", "not certified")

    def turned(self, b, c, child, outside, trips, stays, moved):
        """For each outcome of the orders of a level what stays of each operand, the energy of links that end at the
        child, and words moved."""
        h = self.h
        turning = frozenset(j for j, n in enumerate(trips) if n > 1)
        area, moments, size = math.prod(trips), math.prod(outside), times(outside, child)
        ending = [(row, h.words(row[0][0], times(child, self.inside[b + 1]))) for row in self.ending[b + 1]]
        prices = {}
        for outcome in h.outcomes(turning, h.order[b]):
            h.work(20)
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
                    prices[key] = self.priced(row, arriving, size)
                price, delta = prices[key]
                energy += price
                for own, (reads, writes) in zip(words, delta):
                    own[0] += reads
                    own[1] += writes
            yield tuple(now), energy, tuple(map(tuple, words))

    def first(self, k, b, c, child, trips, m):
        """The loop that moves a tile first: its trips and step, itself, and whether no steps coincide with it, or with
        twice its own (lemmas Coincide and Slide), which nobody knows of loops that grow."""
        h = self.h
        at = times(child, times(self.inside[b + 1], self.space[b]))
        apart = [False, False]
        for d in h.shared[k]:
            dim = h.dims[k][d]
            if m in dim and not self.loose:
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
            trips = [*map(over, chain[1:], chain), over(self.rest, chain[-1])]
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


class Cut(Hierarchy):
    """The problem where factors need not divide, and what its mappings cost, chunk by chunk of each loop."""

    def __init__(self, problem):
        super().__init__(problem)
        links = self.rules["link_transfers"] and self.present[-1] * math.prod(
            self.levels[-1]["fanout"][axis] for axis in "xy"
        )
        need(not links or links == 1, "neighbours hand words on where factors are imperfect", "not certified")
        need(self.largest == self.bounds, "bounds grow where factors are imperfect", "not certified")
        for k in self.ops:
            loops = [j for dim in self.dims[k] for j in dim]
            plain = len({*loops}) == len(loops) and all(sum(dim.values()) < 2 for dim in self.dims[k])
            need(plain or not self.written[k], "words of a sum overlap or have gaps", "not certified")
        self.moving = [frozenset().union(*dims) for dims in self.dims]
        self.size = self.bounds
        self.reaches = [[*map(self.reach, dims)] for dims in self.dims]
        self.once = [*map(self.fewest, self.ops)]  # words of an operand that differ, at least

    # ---- What one mapping costs, exactly.

    def covers(self, tile, loops):
        """Last passes follow from the bounds (``slots``); those that the mapping says are these."""
        left = [n - 1 for n in self.bounds]
        for loop, n, *rest in reversed(loops):
            axis = [one for one in rest if type(one) is str]
            j, own = self.names.index(loop), [one for one in rest if type(one) is not str]
            need(len(axis) < 2 and len(own) < 2, "a loop has other fields", "malformed")
            need((whole(own[0], 1) if own else n) == left[j] % n + 1, f"{loop} has another last pass")
            left[j] //= n
        need(not any(left), "factors do not make the bounds")

    def slots(self, time, space):
        """The slots of each loop, outer to inner: level, whether in space, trips, iterations that a turn goes on by,
        place among all slots in time; None if the outermost one is larger than it must be, or bounds are not met."""
        found, stride = [[] for _ in self.loops], [1 for _ in self.loops]
        place = sum(n > 1 for own in time for _, n in own)
        for b in reversed(range(self.depth)):
            for j, n, *axis in reversed([*time[b], *space[b]]):
                if n > 1:
                    place -= not axis
                    found[j].insert(0, (b, bool(axis), n, stride[j], place))
                    stride[j] *= n
        for own, bound in zip(found, self.bounds):
            outer = own[0] if own else (0, False, 1, 1, 0)
            if up(bound, outer[3]) != outer[2]:
                return None
        return found

    def chunks(self, j, slots, level):
        """Of every chunk of a loop that slots outside a level leave: digits in time by place, iterations that it lies
        on by level in space, and size."""
        own = [one for one in slots if one[0] < level]
        size = own[-1][3] if own else self.bounds[j]
        for begin in range(0, self.bounds[j], size):
            digits = [begin // stride % n for _, _, n, stride, _ in own]
            yield (
                tuple((one[4], d) for one, d in zip(own, digits) if not one[1]),
                tuple((one[0], d * one[3]) for one, d in zip(own, digits) if one[1]),
                min(size, self.bounds[j] - begin),
            )

    def events(self, k, slots, inner):
        """The slots in time whose turns bring tiles (None: the first moment), with the step of those that slide; at
        units every moment brings one ("every")."""
        if inner == self.depth:
            return [("every", None)]
        turns = sorted((place, j, stride) for j in self.loops for b, far, _, stride, place in slots[j]
                       if not far and b < inner)  # fmt: skip
        found, inside, last = [(None, None)], (0,) * len(self.dims[k]), None
        for place, j, stride in reversed(turns):
            step = self.moves(k, j, stride)
            shift = tuple(x - y for x, y in zip(step, inside))
            inside = tuple(map(int.__add__, step, inside))
            last = shift if last is None else last
            again = {m for place_of, m, _ in turns if place_of > place} & self.moving[k] - {j}
            stays = shift == last and all(slots[m][0][2] * slots[m][0][3] == self.bounds[m] for m in again)
            if not stays or any(shift):
                found.append((place, shift if stays else None))
        return found

    def crossing(self, k, b, slots, link, given, together):
        """Words that cross a link: from an instance of level ``b`` to all inside, or ``given`` to one inside."""
        i = link[2]
        shared = [one["fanout"]["reduction" if self.written[k] else "multicast"] for one in self.levels]
        whole = [min((one[3] for one in own if one[0] < i), default=self.bounds[j]) for j, own in enumerate(slots)]
        deepest = [max((one[4] for one in own if not one[1] and one[0] < i), default=-1) for own in slots]
        total = 0
        for turn, step in self.events(k, slots, i):
            often, groups = 1, []
            for j in self.loops:
                states = collections.defaultdict(list)
                alone = not together or j in self.moving[k]
                for when, where, size in given[j]:
                    runs = turn == "every" or all(
                        (d > 0 if p == turn else d == 0 or (turn is not None and p < turn)) for p, d in when
                    )
                    if runs and (alone or not any(x for c, x in where if shared[c])):
                        states[when].append((where, size))
                if j in self.moving[k]:
                    groups.append((j, collections.Counter(tuple(own) for own in states.values())))
                else:
                    often *= sum(map(len, states.values()))
            if not often:
                continue
            before = None if step is None else [n if own >= turn else 0 for n, own in zip(whole, deepest)]
            if together and self.meets(k, slots, range(b, i), shared):
                for row in itertools.product(*(own.items() for _, own in groups)):
                    tiles = {}
                    for taken in itertools.product(*(own for own, _ in row)):
                        self.work()
                        sizes = {j: size for (j, _), (_, size) in zip(groups, taken)}
                        spots = collections.defaultdict(lambda: [0] * len(self.dims[k]))
                        apart = []
                        for (j, _), (where, _) in zip(groups, taken):
                            for c, by in where:
                                if shared[c]:
                                    spots[c] = [x + y for x, y in zip(spots[c], self.moves(k, j, by))]
                                else:
                                    apart.append((c, j, by))
                        spots = tuple(sorted((c, tuple(x)) for c, x in spots.items()))
                        tiles[tuple(apart), spots, tuple(self.extent(k, sizes))] = self.new(k, sizes, before, step)
                    total += often * math.prod(n for _, n in row) * sum(tiles.values())
            else:
                kinds = []
                for _, own in groups:
                    sizes = collections.Counter()
                    for many, n in own.items():
                        for _, size in many:
                            sizes[size] += n
                    kinds.append(sizes)
                for row in itertools.product(*(own.items() for own in kinds)):
                    self.work()
                    sizes = {j: x for (j, _), (x, _) in zip(groups, row)}
                    total += often * math.prod(n for _, n in row) * self.new(k, sizes, before, step)
        return total

    def new(self, k, sizes, before, step):
        """Words of a tile of these sizes that were not in the one before, which lay a step behind and had as many
        iterations, or ``before``, if that is not 0; all words without a step."""
        box = self.extent(k, sizes)
        if step is None:
            return math.prod(box)
        had = self.extent(k, {j: before[j] or size for j, size in sizes.items()})
        return math.prod(box) - math.prod(max(0, min(x, y - z)) for x, y, z in zip(box, had, step))

    def extent(self, k, sizes):
        return self.box(k, [sizes.get(j, n) for j, n in enumerate(self.bounds)])

    def meets(self, k, slots, levels, shared):  # whether loops in space move one dimension where words are shared
        for b in levels:
            own = {j for j in self.moving[k] if any(one[0] == b and one[1] for one in slots[j])}
            if shared[b] and any(len(own & {*dim}) > 1 for dim in self.dims[k]):
                return True
        return False

    def cost(self, keep, time, space):
        slots, instances = self.slots(time, space), [1]
        need(slots is not None, "an outermost factor is larger than it must be, or factors do not make the bounds")
        for own in space:
            instances.append(instances[-1] * math.prod(n for _, n, _ in own))
        every = [self.chunks(j, slots[j], self.depth) for j in self.loops]
        moments = [sum(not any(x for _, x in where) for _, where, _ in own) for own in every]
        compute, energy, moved = up(math.prod(moments), self.compute["rate"]), 0, [[] for _ in self.levels]
        for k in self.ops:
            kept = [b for b in range(self.depth) if k in keep[b]]
            links = [(k, o, i) for o, i in zip(kept, [*kept[1:], self.depth])]
            for number, (_, b, i) in enumerate(links):
                first, spent = None, []
                level, zero = self.levels[b], self.first[k]
                places = [self.joint(j, slots[j], b, i) for j in self.loops]
                for row in itertools.product(*places):
                    many = math.prod(n for n, *_ in row)
                    served = self.crossing(k, b, slots, links[number], [one[1] for one in row], True)
                    taken = 0
                    if number:
                        taken = self.crossing(k, b, slots, links[number - 1], [one[2] for one in row], False)
                    part = math.prod(one[3] for j, one in enumerate(row) if j in self.moving[k]) if zero else 0
                    reads = max(0, served - (part if self.rules["first_read"] == "elided" else 0))
                    fills = max(0, taken - (part if number and self.rules["first_fill"] == "elided" else 0))
                    updates = served if self.written[k] else 0
                    first = first or (reads, fills, updates)
                    spent.append((many, (reads, fills, updates)))
                clusters = max(1, self.present[b] // level["cluster"])
                if clusters < instances[b]:
                    spent = [(clusters, first)]
                for many, row in spent:
                    prices = zip(row, ("read", "fill", "update"))
                    energy += many * sum(up(n, level["block"]) * level["energy"][name] for n, name in prices)
                moved[b].append((first[0], first[1] + first[2]))
        cycles = max([compute, *(self.level_cycles(b, compute, own) for b, own in enumerate(moved))])
        energy += math.prod(self.bounds) * self.compute["energy"] + self.leak(keep, instances) * cycles
        return energy, cycles

    def joint(self, j, slots, b, i):
        """The kinds of instances of a level by a loop: how many, their chunks as the level inside and as this one has
        them, and iterations."""
        inside, own = collections.defaultdict(list), collections.defaultdict(list)
        for found, level in ((inside, i), (own, b)):
            for when, where, size in self.chunks(j, slots, level):
                key = tuple(one for one in where if one[0] < b)
                found[key].append((when, tuple(one for one in where if one[0] >= b), size))
        kinds = collections.Counter((tuple(inside[key]), tuple(own[key])) for key in own)
        found = [(n, x, y, sum(size for *_, size in y)) for (x, y), n in kinds.items()]
        idle = math.prod(one[2] for one in slots if one[1] and one[0] < b) - len(own)
        return found + ([(idle, (), (), 0)] if idle else [])

    # ---- What no mapping undercuts.

    def tile(self, size, bound):
        return min(size, bound)

    def factors(self, _j, left, most):  # a loop may have so many trips: with those outside less than twice its bound
        return range(1, min(left, most) + 1)

    def reach(self, dim):
        """Places of a dimension that differ, at least."""
        places = {0}
        for j, by in dim.items() if len(dim) > 1 else ():
            if len(places) * self.bounds[j] <= 1 << 16:
                places = {x + by * n for x in places for n in range(self.bounds[j])}
        return max([len(places), *(self.bounds[j] for j in dim)])

    def fewest(self, k):
        loops = [j for dim in self.dims[k] for j in dim]
        plain = len({*loops}) == len(loops)
        return math.prod(self.reaches[k]) if plain else max(self.bounds[j] for j in loops)

    def arranged(self, keep, _left, space):
        return CutArrangement(self, keep, space)

    def search(self, target):
        self.size, counts, self.cuts = tuple(2 * n - 1 for n in self.bounds), collections.Counter(), {}
        reason = self.misfit()
        need(target is None or not reason, f"there is no mapping: {reason}")
        if reason:
            return reason
        target = math.inf if target is None else target
        for one in self.arrangements():
            self.work(len(one.links))
            if one.closes([one.least(j) for j in self.loops], target):
                counts["arrangements by their operations and words"] += 1
            else:
                one.open(target, counts)
        return ", ".join(f"{count} {what}" for what, count in counts.items()) or "nothing"


class Cell:
    """Cuts of a loop (leader, trips in time and tiles by level, row), and a row that none of them has less of. Of a cut
    with no less than another one, its leader, nothing more is known: it is parted from it last."""

    def __init__(self, cuts):
        self.cuts, self.parts = cuts, None
        self.row = tuple(tuple(map(min, zip(*own))) for own in zip(*(cut[3] for cut in cuts)))
        ratios = [max(own) / min(own) for own in zip(*(cut[2] for cut in cuts))] if len(cuts) > 1 else [0]
        self.level = ratios.index(max(ratios))
        self.spread = math.prod(ratios)  # 0: of a single cut

    def halves(self):
        """Two cells, apart in the size of the tiles that differ most."""
        if not self.parts:
            own = sorted(self.cuts, key=lambda cut: (cut[2][self.level], cut[0]))
            ends = [n for n in range(1, len(own)) if own[n - 1][0] != own[n][0]] or range(1, len(own))
            at = min(ends, key=lambda n: abs(2 * n - len(own)))
            self.parts = Cell(own[:at]), Cell(own[at:])
        return self.parts


class CutArrangement:
    """What levels keep and the instances of each loop below them, where factors are imperfect. The row of a cut of a
    loop has no less of any number than the row of its cell: numbers that multiply over loops (moments of units; of each
    link choices of digits that words leave and arrive for, by the level of Again: 1 of loops that move the operand),
    tiles by level, -1 for each level at which the loop turns, and by link the innermost level outside at which it does
    and the chunks that the tile inside has of it."""

    def __init__(self, h, keep, space):
        self.h, self.keep, self.space, self.instances = h, keep, space, [1]
        for own in space:
            self.instances.append(self.instances[-1] * math.prod(own))
        kept = [[b for b in range(h.depth) if k in keep[b]] for k in h.ops]
        self.links = [(k, o, i) for k, own in enumerate(kept) for o, i in zip(own, [*own[1:], h.depth])]
        self.leak, self.asked, self.known = h.leak(keep, self.instances), [], [self.fixed(link) for link in self.links]
        for k, o, i in self.links:
            # Levels of which instances have words of their own: as they leave, and as they arrive.
            ways = [b for b in range(i) if b < o or not self.shared(k, b)], [*range(i)]
            self.asked += [(k, i, own, t) for own in ways for t in (range(i + 1) if i < h.depth else [i])]

    def shared(self, k, b):
        return self.h.levels[b]["fanout"]["reduction" if self.h.written[k] else "multicast"]

    def fixed(self, link):
        """What no cut changes of a link: first words of all instances that are not read, and not filled; how many pay
        for words, of how many in all blocks, and what one costs; instances that take the same word; words of all; and
        dimensions that several loops move, with places that differ."""
        h, (k, o, i) = self.h, link
        own = h.moving[k]
        whole = math.prod(h.bounds[j] for j in own)
        zero = [
            whole * math.prod(n for row in self.space[:b] for j, n in enumerate(row) if j not in own)
            if h.first[k] and h.rules[rule] == "elided" else 0
            for b, rule in ((o, "first_read"), (i, "first_fill"))
        ]  # fmt: skip
        prices = [
            (h.pays(b, n), n * h.levels[b]["block"], h.levels[b]["energy"][name])
            for b, name in ((o, "read"), (o, "update"), (i, "fill"))
            if b < h.depth
            for n in [self.instances[b]]
        ]
        dims = [[(j, f) for j, f in dim.items() if h.bounds[j] > 1] for dim in h.dims[k]]
        if sum(map(len, h.dims[k])) > len(own) or i == h.depth:
            dims = []
        dims = [(dim, reach) for dim, reach in zip(dims, h.reaches[k]) if len(dim) > 1]
        return zero, prices, self.meeting(k, o), whole, dims

    def meeting(self, k, o):  # instances that take the same word at a moment, at most (lemma Meet)
        many = 1
        for b in range(o, self.h.depth):
            meet = {j for dim in self.h.dims[k] if sum(self.space[b][j] > 1 for j in dim) > 1 for j in dim}
            if self.shared(k, b) and meet:
                trips = [self.space[b][j] for j in meet]
                many *= math.prod(trips) // max(trips)
        return many

    def least(self, j):
        """What no cut of a loop has less of (lemma Digits)."""
        h, column, bound = self.h, [own[j] for own in self.space], self.h.bounds[j]
        every, found = math.prod(column), [up(bound, math.prod(column))]
        for k, i, levels, _ in self.asked:
            apart = math.prod(column[b] for b in levels)
            own = apart // 2 + 1 if apart > 1 else 1
            found.append(1 if j in h.moving[k] else max(own, up(bound * apart, every)) if i == h.depth else own)
        tiles = [min(bound, math.prod(column[b:])) for b in range(h.depth)]
        turns = [-(min(h.most[b]["time"].get(j, 2), h.exact[b]["time"].get(j, 2)) > 1) for b in range(h.depth)]
        return found, tiles, turns, [0] * len(self.links), [1] * len(self.links)

    def cuts(self, j):
        """The cell of all cuts of a loop that may be of use; None if there is none."""
        h, column, bound = self.h, tuple(own[j] for own in self.space), self.h.bounds[j]
        key = j, column, tuple(self.links)
        if key not in h.cuts:
            found = [((), 1)]
            for b in reversed(range(h.depth)):
                grown, alone = [], [1 for _ in h.loops]
                for trips, chunk in found:
                    if column[b] > 1 and chunk >= bound:
                        continue
                    left = up(bound, chunk * column[b])
                    for n in range(1 if b else left, left + 1):
                        alone[j] = min(bound, chunk * column[b] * n)
                        if sum(h.words(k, alone) for k in self.keep[b]) > h.room[b]:
                            break
                        h.work(5)
                        if h.allows(b, "time", j, n):
                            grown.append(((n, *trips), chunk * column[b] * n))
                found = grown
            rows = [(self.row(j, trips, column), trips) for trips, _ in found]
            rows.sort(key=lambda one: (sum(map(sum, one[0])), one[1]))
            h.cuts[key] = Cell(self.led(rows, column, bound)) if rows else None
        return h.cuts[key]

    def led(self, rows, column, bound):
        """Cuts with the first one that has no more of any number, and its tiles."""
        leaders, cuts = [], []
        for row, trips in rows:
            flat = sum(row, ())
            self.h.work(len(leaders) // 8)
            leader = next((n for n, (_, one) in enumerate(leaders) if all(map(int.__le__, one, flat))), len(leaders))
            if leader == len(leaders):
                inside = [math.prod(trips[b:]) * math.prod(column[b:]) for b in range(len(trips))]
                leaders.append(([min(bound, n) for n in inside], flat))
            cuts.append((leader, trips, leaders[leader][0], row))
        return cuts

    def row(self, j, trips, column):
        """What a cut says."""
        h, bound, slots, inside = self.h, self.h.bounds[j], [], 1
        tiles = []
        for b in reversed(range(h.depth)):
            for far, n in ((True, column[b]), (False, trips[b])):
                if n > 1:
                    slots.insert(0, (b, far, n, (bound - 1) // inside % n))
                    inside *= n
            tiles.insert(0, min(bound, inside))
        h.work(3 * len(self.asked))

        def reached(i, space, time):  # choices of these digits, with zeros for all others, that exist
            own = [(n, last, b in space if far else b < time) for b, far, n, last in slots if b < i]
            after, count = math.prod(n for n, _, asked in own if asked), 0
            for n, last, asked in own:
                if asked:
                    after //= n
                    count += last * after
                elif last:
                    return count + after
            return count + 1

        found = [reached(h.depth, (), h.depth)]
        found += [1 if j in h.moving[k] else reached(i, own, t) for k, i, own, t in self.asked]
        turning = [b for b, n in enumerate(trips) if n > 1]
        halos = [any(j == m for dim, _ in one[4] for m, _ in dim) for one in self.known]
        chunks = [up(bound, tiles[i]) if own else 1 for (_, _, i), own in zip(self.links, halos)]
        movers = [max((b for b in turning if b < i and j in h.moving[k]), default=0) for k, _, i in self.links]
        tiles = [n if any(j in h.moving[k] for k in own) else 1 for n, own in zip(tiles, self.keep)]
        return tuple(map(tuple, (found, tiles, [-(n > 1) for n in trips], movers, chunks)))

    def tiled(self, number, rows):
        """Words that arrive at all instances inside a link at least, for each choice of digits (lemma Halo)."""
        h, once, dims = self.h, self.h.once[self.links[number][0]], self.known[number][4]
        if not dims:
            return once
        whole, least = once, math.inf
        for dim, reach in dims:
            ends = [[(f, h.bounds[j], n) for n in {rows[j][4][number], h.bounds[j]}] for j, f in dim]
            found = math.inf
            for corner in itertools.product(*ends):  # it is linear in the chunks of each loop
                many = math.prod(n for *_, n in corner)
                found = min(found, many + sum(f * (many // n * bound - many) for f, bound, n in corner))
            found = max(found, reach)
            whole, least = whole // reach * found, min(least, Fraction(reach, found))
        return max(once, math.floor(whole * least))

    def crossed(self, number, many, at, again, words):
        """Energy of a link at least, and the words that are read and updated outside, and filled inside."""
        (k, _, i), (zero, prices, meeting, whole, _) = self.links[number], self.known[number]
        once = self.h.once[k]
        if i == self.h.depth:
            leaving, filled = many[at] * max(once, up(whole, meeting)), 0
        else:
            leaving, filled = many[at + again] * max(once, up(words, meeting)), many[at + i + 1 + again] * words
        counts = max(0, leaving - zero[0]), leaving if self.h.written[k] else 0, max(0, filled - zero[1])
        return sum(up(n * pay, block) * price for n, (pay, block, price) in zip(counts, prices)), counts

    def bound(self, rows):
        """The least energy and cycles of mappings with no less of any number, and by level and loop what energy is more
        if that loop is the innermost one to turn there; None if tiles do not fit."""
        h, (products, tiles, turns, movers, _) = self.h, zip(*rows)
        h.work(2 * len(self.links) + len(rows))
        for b, room in enumerate(h.room):
            if room < math.inf and sum(h.words(k, [own[b] for own in tiles]) for k in self.keep[b]) > room:
                return None
        many, at, innermost = [*map(math.prod, zip(*products))], 1, [*map(max, zip(*movers))]
        energy, moved = math.prod(h.bounds) * h.compute["energy"], [[0, 0] for _ in h.levels]
        more = [dict.fromkeys((j for j, own in enumerate(turns) if own[b]), 0) for b in range(h.depth)]
        for number, ((k, o, i), again) in enumerate(zip(self.links, innermost)):
            words = self.tiled(number, rows)
            spent, (reads, updates, filled) = self.crossed(number, many, at, again, words)
            energy += spent
            moved[o][0] += reads
            moved[o][1] += updates
            if i < h.depth:
                moved[i][1] += filled
                extra = self.crossed(number, many, at, again + 1, words)[0] - spent
                for j in h.moving[k] & more[again].keys() if extra else ():
                    more[again][j] += extra
            at += 2 * (i + 1) if i < h.depth else 2
        compute = up(many[0], h.compute["rate"])
        cycles = h.least_cycles(compute, [[up(words, n) for words in own] for own, n in zip(moved, self.instances)])
        return energy + self.leak * cycles, cycles, more

    def closes(self, rows, target):
        """Whether mappings with no less of any number are worth the target at least."""
        found = self.bound(rows)
        if found is None:
            return True
        energy, cycles, more = found
        return self.h.worth(energy + sum(min(own.values(), default=0) for own in more), cycles) >= target

    def open(self, target, counts):
        """Halve cells of cuts, and cost what is left in every order."""
        h, cells = self.h, [self.cuts(j) for j in self.h.loops]
        if not all(cells):
            counts["arrangements by trips"] += 1
            return
        waiting = [cells]
        while waiting:
            cells = waiting.pop()
            rows = [cell.row for cell in cells]
            if self.closes(rows, target):
                counts["cells of cuts"] += 1
                continue
            j = max(h.loops, key=lambda j: cells[j].spread)
            if cells[j].spread:
                waiting += [[*cells[:j], half, *cells[j + 1 :]] for half in cells[j].halves()]
            else:
                counts["cuts order by order"] += 1
                self.settle({j: cell.cuts[0][1] for j, cell in enumerate(cells)}, self.bound(rows), target)
        counts["arrangements by cuts"] += 1

    def settle(self, trips, least, target):
        h, orders, (energy, cycles, more) = self.h, [], least
        space = [self.split(b, trips) for b in range(h.depth)]
        if None in space:
            return
        for b in range(h.depth):
            given = [j for j in h.order[b] if trips[j][b] > 1]
            others = [j for j in h.loops if trips[j][b] > 1 and j not in given]
            ways = itertools.permutations(others) if b + 1 < h.depth else [others]
            orders.append([[(j, trips[j][b]) for j in (*outer, *reversed(given))] for outer in ways])
        need(math.prod(map(len, orders)) <= 20_000, "there are too many orders", "not certified")
        for time in itertools.product(*orders):
            h.work()
            extra = sum(own[order[-1][0]] for own, order in zip(more, time) if order)
            if h.worth(energy + extra, cycles) >= target:
                continue
            h.work(100)
            found = h.worth(*h.cost(self.keep, time, space))
            said = [[(h.names[j], *own) for j, *own in one] for one in (*time, *space)]
            kept = [sorted(h.tensors[k] for k in own) for own in self.keep]
            need(
                found >= target,
                f"there is a better mapping: in time {said[: h.depth]}, in space {said[h.depth :]}, kept {kept}",
            )

    def split(self, b, trips):
        """The loops in space below a level along its axes; None if the outermost slot of a loop would be too large."""
        h, options = self.h, [((), 1, 1)]
        for j in h.loops:
            n, most, grown = self.space[b][j], h.most[b], []
            inside = math.prod(trips[j][c] * self.space[c][j] for c in range(b + 1, h.depth))
            outermost = all(trips[j][c] == 1 for c in range(b + 1)) and all(self.space[c][j] == 1 for c in range(b))
            for x in divisors(n):
                y = n // x
                if x > most["x"].get(j, x) or y > most["y"].get(j, y):
                    continue
                for own in {((j, y, "y"), (j, x, "x")), ((j, x, "x"), (j, y, "y"))}:
                    own = [one for one in own if one[1] > 1]
                    if own and outermost and up(h.bounds[j], inside * n // own[0][1]) != own[0][1]:
                        continue
                    grown += [((*row, *own), wide * x, high * y) for row, wide, high in options]
            fanout = h.levels[b]["fanout"]
            kinds = {(wide, high): row for row, wide, high in grown if wide <= fanout["x"] and high <= fanout["y"]}
            options = [(row, wide, high) for (wide, high), row in kinds.items()]
        return options[0][0] if options else None


def check(problem, claim, evidence):
    kind = Cut if type(problem) is dict and problem.get("imperfect") is True else Hierarchy
    hierarchy, status = kind(problem), claim["status"]
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
