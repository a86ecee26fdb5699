"""Check proofs of PE allocations on TCPAs: ``python -I check_pe_allocation.py FILE``, which believes nothing.

Exit code: 0 all certified, 1 one refuted, 2 malformed, 3 not certified and why. Exact numbers, standard library alone.
"""

import hashlib
import json
import math
import pathlib
import re
import resource
import signal
import sys
from fractions import Fraction

KIND = "pe_allocation"
TRUSTED = "the equations of Heidorn et al. 2019 as written here; lemmas Paces, Caps, Shares, Multipliers, Frame"


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
# Paces. Eq. 6 never rises with PEs or units, so a layer of pace z needs at least the fewest PEs p(z) whose work (with
#   all units it may use) is <= z; p falls in steps. Pinned idle cycles leave single paces, each with its fewest PEs.
# Caps. z * positions <= interval; at the end z * positions <= latency (streaming: of all layers); Eq. 9 bounds the pace
#   of what is read by that of its reader over F, and from below. No layer takes more PEs than the others' fewest leave.
# Shares. Layers on one PE: their works sum to <= z * positions of each, so the fractions work / (most z * positions)
#   sum to <= 1 for a PE: with all others' PEs they are no more than the PEs in use.
# Multipliers. A sum of valid inequalities, each times a number >= 0, holds; where its left side is < 0 for all paces
#   within their ranges and steps and all starts in 0..latency, there is no allocation. So of no allocation at all, if a
#   tree parts the paces in two at each node (z <= k, z > k) and each leaf is closed by Caps or Multipliers.
# Frame. In "layer-by-layer" cycles add up and each layer is fastest with most PEs and units.
BIG = 1 << 62


def pair(value, least=1):
    need(type(value) is list and len(value) == 2, "needs pairs of numbers", "malformed")
    return [whole(one, least, 1 << 16) for one in value]


def useful(total, most):
    """Counts up to ``most`` with a ceil(total / count) that no smaller one has."""
    count, found = 1, []
    while count <= min(most, total):
        found.append(count)
        count = -(-total // (-(-total // count) - 1)) if count < total else total + 1
    return found


class Layer:
    def __init__(self, document, at):
        names = "name operation filters depth channels maps units feeds pin size output_size kernel strides dilations"
        found = fields(document, *names.split(), "pads")
        name, self.operation, *numbers = found[:7]
        self.feeds, pin, *pairs, pads = found[7:]
        known = self.operation in ("convolution", "pool", "elementwise")
        need(type(name) is str and known and type(self.feeds) is list, "is no layer", "malformed")
        self.filters, self.depth, self.channels, self.maps, self.units = (whole(one, 1, 1 << 20) for one in numbers)
        self.size, self.out, self.kernel, self.strides, self.dilations = map(pair, pairs)
        self.pads = pair(pads, 0)
        need(self.feeds == sorted({whole(feed, 0, at - 1) for feed in self.feeds}), "feeds are no set", "malformed")
        self.pin = [one if one is None else whole(one) for one in fields(pin, "pes", "units", "idle")]
        self.positions, self.window = self.out[0] * self.out[1], self.kernel[0] * self.kernel[1]
        self.new = min(self.window, self.strides[0] * self.strides[1])  # Eq. 7
        self.weights = self.filters * self.depth * self.window if self.operation == "convolution" else 0
        self.reach = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True)]

    def work(self, pes, units, lanes=False):
        """Cycles for a position: Eq. 6; in the model lanes units may take output maps instead."""
        plain = -(-self.filters // pes) * -(-self.depth // units) * self.window
        outputs, depth = (self.maps, 1) if self.operation == "pool" else (self.filters, self.depth)
        return min(plain, -(-outputs // (pes * units)) * depth * self.window) if lanes else plain

    def steps(self, most, free):
        """Lemma Paces: (pace, fewest PEs, work), paces ascending."""
        pes, units, idle = self.pin
        counts = useful(self.filters, most) if pes is None else [pes]
        shares = [self.units] if units is None else [units]
        shares = useful(self.depth, self.units) if free and units is None and idle is not None else shares
        need(len(counts) * len(shares) <= 100000, "has too many choices", "malformed")
        best = {}
        for count in reversed([count for count in counts if 1 <= count <= most]):
            for share in (share for share in shares if 1 <= share <= self.units):
                work = self.work(count, share)
                best[work + (idle or 0)] = (count, work)
        return [(pace, *best[pace]) for pace in sorted(best)]

    def needed(self, axis, last):
        """Of each output row or column the last (first) input row or column that is within the image and its window."""
        edge, step = self.size[axis] - 1, self.dilations[axis]
        for at in range(self.out[axis]):
            found = at * self.strides[axis] - self.pads[axis] + (self.reach[axis] - 1 if last else 0)
            outside = max(0, -((edge - found) // step) if last else -(found // step))
            yield min(max(found - outside * step if last else found + outside * step, 0), edge)


class Network:
    def __init__(self, problem):
        names = "objective sense unit model mode sharing free_units layers clock_hz pes word_bytes interval bytes"
        found = fields(problem, *names.split(), "segments")
        self.objective, sense, unit, self.model, self.mode, self.sharing, self.free, layers, *rest = found
        self.clock, self.pes, self.word, self.interval, self.bytes, self.segments = rest
        units = {"throughput": ("most", "fps"), "latency": ("least", "cycles"), "pes": ("least", "PEs")}
        need(units[self.objective] == (sense, unit), "has another sense or unit", "malformed")
        modes = {"calculus": ("layer-parallel", "layer-by-layer", "mixed"), "streaming": ("layer-parallel",)}
        known = self.mode in {**modes, "lanes": ("layer-by-layer",)}[self.model]
        need(known and type(self.sharing) is type(self.free) is bool, "has no such model", "malformed")
        for number in (self.clock, self.pes, self.word):
            whole(number, 1)
        self.limits = [BIG if one is None else whole(one) for one in (self.interval, self.bytes)]
        need(type(layers) is list and 1 <= len(layers) <= 1000, "needs 1 to 1,000 layers", "malformed")
        self.layers = [Layer(layer, at) for at, layer in enumerate(layers)]
        self.readers = [[i for i, one in enumerate(self.layers) if at in one.feeds] for at in range(len(layers))]
        self.streaming = self.model == "streaming"
        size = sum(sum(layer.out) * (1 + len(layer.feeds)) for layer in self.layers)
        need(size <= 1 << 20 and sum(map(len, self.readers)) <= 10000, "is too large", "malformed")
        self.ends_at = [at for at, by in enumerate(self.readers) if self.streaming or not by]
        self.edges = {(i, j): self.lines(i, j) for i, layer in enumerate(self.layers) for j in layer.feeds}
        self.labour = 0

    def lines(self, i, j):
        """Rows and columns of pairs (a, b): layer i starts at least a * (pace of j) - b * (its own pace) after layer j,
        the largest row and the largest column together: F pixels (Eqs. 8, 10); streaming: to the last of a window."""
        layer, feed = self.layers[i], self.layers[j]
        if not self.streaming or feed.positions == 1:
            return [(0, 0)], [(1 if self.streaming else layer.new, 0)]
        rows = [(last * feed.out[1], at * layer.out[1]) for at, last in enumerate(layer.needed(0, True))]
        return rows, [(last + 1, at) for at, last in enumerate(layer.needed(1, True))]

    def toil(self, count):
        self.labour += count
        need(self.labour < 3 * 10**7, "asks for too much work", "malformed")

    def words(self, held):
        """Words in buffers: Eq. 14 one by one, else Eqs. 2, 15 to 17, or what line buffers hold."""
        if self.mode == "layer-by-layer":
            maps = [len(one.feeds) if one.operation == "elementwise" and one.feeds else 1 for one in self.layers]
            maps = [m * one.channels * one.size[0] * one.size[1] for m, one in zip(maps, self.layers, strict=True)]
            return max(m + one.weights + one.maps * one.positions for m, one in zip(maps, self.layers, strict=True))
        total, rows = sum(layer.weights for layer in self.layers), {}
        for i, layer in reversed(list(enumerate(self.layers))):
            rows[i] = (max([rows[r] for r in self.readers[i]], default=1) - 1) * layer.strides[0] + layer.reach[0]
            between = (rows[i] - layer.strides[0]) * layer.size[1] * layer.channels
            total += 0 if self.streaming else between if layer.operation == "convolution" else layer.maps
        return total + sum(self.buffer(i, j, held) * self.layers[j].maps for i, j in self.edges if self.streaming)

    def buffer(self, i, j, held):
        """The most pixels of feed j that layer i holds: of each position those made by its end (``held`` None: up to
        its last one) and not before the first that it or a later one reads."""
        layer, feed, least, most = self.layers[i], self.layers[j], BIG, -BIG
        first, last = ([list(layer.needed(axis, end)) for axis in (0, 1)] for end in (False, True))
        starts, paces = held or ([0] * (i + 1), [1] * (i + 1))
        interval = max(one.positions * z for one, z in zip(self.layers, paces, strict=False))
        frames = (starts[i] + layer.positions * paces[i] - starts[j]) // interval + 1
        self.toil(layer.positions * (2 + abs(frames)))
        for at in reversed(range(layer.positions)):
            row, column = divmod(at, layer.out[1])
            least = min(least, 0 if feed.positions == 1 else first[0][row] * feed.out[1] + first[1][column])
            made = 1 if feed.positions == 1 else last[0][row] * feed.out[1] + last[1][column] + 1
            since = starts[i] + (at + 1) * paces[i] - starts[j]
            made = sum(min(max((since - frame * interval) // paces[j], 0), feed.positions) for frame in range(frames)
            ) if held else made
            most = max(most, made - least)
        return most

    def cost(self, mapping):
        """Interval, latency and PEs of an allocation that keeps every rule."""
        *given, shared = fields(mapping, "pes", "units", "idle", "shared")
        count, paces, starts, works = len(self.layers), [], [], []
        need({type(one) for one in given} == {list} and {*map(len, given)} == {count}, "needs all layers", "malformed")
        for i, layer in enumerate(self.layers):
            mine = pes, units, idle = [whole(given[0][i], 1), whole(given[1][i], 1), whole(given[2][i])]
            pinned = all(pin in (None, one) for pin, one in zip(layer.pin, mine, strict=True))
            all_units = self.free or layer.pin[1] is not None or units == layer.units
            need(pinned and all_units and units <= layer.units, "the mapping breaks a pin or its units")
            works.append(layer.work(pes, units, self.model == "lanes"))
            paces.append(works[i] + idle)
            fed = all(paces[i] >= layer.new * paces[j] for j in layer.feeds)
            need(fed or self.streaming or self.mode == "layer-by-layer", "the mapping breaks Eq. 9")
            delays = [starts[j] + self.delay(i, j, paces) for j in layer.feeds]
            starts.append(max([0, *delays]))
        times = [pace * layer.positions for pace, layer in zip(paces, self.layers, strict=True)]
        members = [whole(at, 0, count - 1) for group in shared for at in group]
        need(len(set(members)) == len(members) and (self.sharing or not shared), "the mapping shares what it may not")
        for group in shared:
            busy = sum(works[at] * self.layers[at].positions for at in group)
            need(all(given[0][at] == 1 and times[at] >= busy for at in group) and len(group) > 1, "a shared PE is late")
        interval, cycles = max(times), max(starts[at] + times[at] for at in self.ends_at)
        pes = sum(given[0]) - len(members) + len(shared)
        if self.mode == "layer-by-layer":
            interval, cycles, pes = sum(times), sum(times), max(given[0])
        room = self.bytes is None or self.words((starts, paces)) * self.word <= self.bytes
        need(room and pes <= self.pes and interval <= self.limits[0], "the mapping breaks a limit")
        return interval, cycles, pes

    def delay(self, i, j, paces):
        return sum(max(a * paces[j] - b * paces[i] for a, b in lines) for lines in self.edges[i, j])

    def ends(self, at, low, high):
        """Lemmas Paces and Shares: between these paces no other asks for fewer PEs and is shorter or longer."""
        points, pinned = self.points[at], self.layers[at].pin[2] is not None
        self.toil(len(points) + 10)
        for (pace, pes, work), after in zip(points, [*points[1:], (high + 1,)], strict=True):
            first, last = (pace, pace) if pinned else (max(low, pace), min(high, after[0] - 1))
            if low <= first <= last <= high:
                price = Fraction(work, high) if self.sharing and pes == 1 else pes
                yield first, price
                yield last, price

    def narrowed(self, low, high):
        """Lemma Caps, three times: for each layer the paces that matter with their PEs; None if one has none."""
        for _ in range(3):
            for i, layer in enumerate(self.layers if not self.streaming else ()):
                low[i] = max([low[i], *(layer.new * low[j] for j in layer.feeds)])
            for i in reversed(range(len(low) if not self.streaming else 0)):
                high[i] = min([high[i], *(high[r] // self.layers[r].new for r in self.readers[i])])
            ways = [list(self.ends(i, low[i], high[i])) for i in range(len(low))]
            least = [min((price for _, price in way), default=self.most + 1) for way in ways]
            spare = self.most - sum(least)
            if math.ceil(sum(least)) > self.most:
                return None
            ways = [[end for end in way if end[1] <= one + spare] for way, one in zip(ways, least, strict=True)]
            low[:], high[:] = ([pick(end[0] for end in way) for way in ways] for pick in (min, max))
        return ways

    def refute(self, nodes, most, interval, cycles):
        """No allocation has so few PEs and cycles: a tree in preorder of [layer, k], "caps" and multipliers."""
        self.most, self.cycles = most, cycles
        self.points = [layer.steps(most, self.free) for layer in self.layers]
        high = [min(BIG, interval // layer.positions) for layer in self.layers]
        for at in self.ends_at:
            high[at] = min(high[at], cycles // self.layers[at].positions)
        stack = [([0] * len(high), high)]
        for node in nodes:
            need(stack, "the tree has ended before its nodes", "malformed")
            low, high = stack.pop()
            self.toil(100 * len(low))
            ways = self.narrowed(low, high)
            if type(node) is list:
                at, pace = node
                whole(at, 0, len(low) - 1)
                stack.append(([*low[:at], max(low[at], whole(pace) + 1), *low[at + 1 :]], list(high)))
                stack.append((low, [*high[:at], min(high[at], pace), *high[at + 1 :]]))
            elif ways is None:
                need(node == "caps", "a leaf of the tree needs no multipliers", "malformed")
            else:
                need(type(node) is dict, "a leaf of the tree is not closed by caps")
                self.multiplied(node, ways)
        need(not stack, "the tree has nodes that are not closed")

    def multiplied(self, leaf, ways):
        """Lemma Multipliers."""
        pes, ends, starts, rates = fields(leaf, "pes", "ends", "starts", "rates")
        start, pace, total = [0] * len(ways), [0] * len(ways), whole(pes) * self.most
        need(self.cycles < BIG or not ends + starts, "there is no limit on latency")
        for i, times in ends:
            need(i in self.ends_at, "a layer does not end last")
            total += whole(times) * self.cycles
            start[i] -= times
            pace[i] -= times * self.layers[i].positions
        for i, j, row, column, times in starts:
            rows, columns = self.edges[i, j]
            (a, b), (c, d) = rows[whole(row)], columns[whole(column)]
            start[i], start[j] = start[i] + whole(times), start[j] - times
            pace[i], pace[j] = pace[i] + (b + d) * times, pace[j] - (a + c) * times
        for i, j, times in rates:
            need(not self.streaming and (i, j) in self.edges, "the streaming model has no Eq. 9")
            pace[i], pace[j] = pace[i] + whole(times), pace[j] - times * self.layers[i].new
        total += sum(max(0, times) * self.cycles for times in start)
        total += sum(max(p * z - pes * price for z, price in way) for p, way in zip(pace, ways, strict=True))
        need(total < 0, "the multipliers of a leaf leave room")

    def one_by_one(self, most, interval, cycles):
        """Lemma Frame: whether all layers, each as fast as it can be, are too slow or pinned beyond the array."""
        total = 0
        for layer in self.layers:
            free = zip(layer.pin, (most, layer.units, 0), strict=True)
            pes, units, idle = (one if pin is None else pin for pin, one in free)
            if not (1 <= pes <= most and 1 <= units <= layer.units):
                return True
            total += (layer.work(pes, units, self.model == "lanes") + idle) * layer.positions
        return total > min(interval, cycles)


def check(problem, claim, evidence):
    net = Network(problem)
    rule, mapping, nodes = fields(evidence, "rule", "mapping", "nodes")
    status, value, bound = fields(claim, "status", "value", "bound")
    most, interval, cycles = net.pes, net.limits[0], BIG
    if status == "infeasible":
        need(value is bound is mapping is None, "what is infeasible has no value", "malformed")
    else:
        found = None
        if mapping is not None:
            costs = net.cost(mapping)
            found = {"throughput": Fraction(net.clock, costs[0]), "latency": costs[1], "pes": costs[2]}[net.objective]
        need(found is value if None in (found, value) else found == rational(value), "the mapping has another value")
        bound = rational(bound)
        need(bound > 0 and (status == "bounded" or bound == found), "an optimal value is its bound")
        if net.objective == "throughput":
            interval = min(interval, math.ceil(net.clock / bound) - 1)
        elif net.objective == "latency":
            cycles = math.ceil(bound) - 1
        else:
            most = min(most, math.ceil(bound) - 1)
    if rule == "storage":
        need(status == "infeasible" and net.bytes is not None, "no storage is limited")
        need(net.words(None) * net.word > net.bytes, "there is room for it")
    elif net.mode == "layer-by-layer":
        need(rule == "frame" and nodes == [], "needs the rule frame", "malformed")
        need(net.one_by_one(most, interval, cycles), "a better allocation is not ruled out")
    else:
        need(rule == "tree" and net.mode == "layer-parallel", "needs the rule tree", "malformed")
        net.refute(nodes, most, interval, cycles)
    return status if value is None else f"{status} {value} {problem['unit']}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
