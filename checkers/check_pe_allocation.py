"""Check proofs of PE allocations on TCPAs: ``python -I check_pe_allocation.py FILE``. It imports nothing from mapper.

Exit code: 0 all certified, 1 one refuted, 2 malformed, 3 not certified. Exact numbers, only the standard library.
"""

import collections
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

KIND = "pe_allocation"
TRUSTED = ("Eqs. 2 to 17 of Heidorn et al. 2019 as written here; "
           "lemmas Paces, Caps, Shares, Multipliers, Drain, Programs, Links, Windows, Frame, Runs")


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
# Paces. Eq. 6 never rises with PEs or units, so a layer of pace z needs at least the fewest PEs p(z) whose work (with
#   all units it may use) is <= z; p falls in steps. Pinned idle cycles leave single paces, each with its fewest PEs.
# Caps. z * positions <= interval; at the end z * positions <= latency; Eq. 9 bounds the pace of what is read by that of
#   its reader over F, and the reader's from below. No layer takes more PEs than the others' fewest leave. Without any
#   limit paces beyond 2^40000 gain nothing: no work and no product of F comes to that.
# Shares. Works of layers on one PE sum to <= z * positions of each, so that the fractions work / (most z * positions)
#   sum to <= 1: for layers of one PE they count no more, with all others' PEs, than the PEs in use. Two whose works
#   sum to more than the most z * positions of one do not share a PE; of layers with no such pair each is on another.
# Multipliers. A sum of valid inequalities, each times a number >= 0, holds; where its slack is < 0 for all paces within
#   their ranges and steps and all starts in 0..latency, there is no allocation. So is none at all if a tree parts the
#   paces in two at each node (z <= k, z > k) and each leaf is closed by Caps or Multipliers.
# Drain. A position's pixels are there as many cycles after its time as the operations from its last step to its last
#   result take one after another, but for the first cycle, in which it is still at work; by the paper's models none.
# Programs. For which PEs and units a PE has no room for a layer's program stands in the document ("unfit"), as it is;
#   of PE counts with the same ceil(M/P) as a smaller one that one stands for all.
# Links. Weights are in the PEs. At its own pace a layer gets each position's window: of the frame, of stored maps, and
#   out of its line buffers where the stream "weights" begins, into which what is made for it comes back. Streams go
#   their ways, and within a region along its breadth-first tree; whole where every filter reads all maps, else to each
#   PE the part of its filters. No link may be asked for more words a cycle than it carries (a corner has two to its
#   buffers), no border PE for more buffers, nor the array for more streams from and to the buffers than generators.
# Windows. A pixel waits from when it is there until the last position that may read it is made, pixels of frames one
#   interval apart in raster order. When a position is made all pixels of its window are there, and none that it or a
#   later one reads is gone: so many words wait at any paces.
# Frame. In "layer-by-layer" cycles add up, and each layer is fastest with most PEs and units.
# Runs. In "mixed" the cycles of two runs or more add up, a run takes no less than any part of it, and maps that stay on
#   the chip save no cycles (here all leave it). If every run from a to b takes at least potential[b] - potential[a],
#   all of them take at least the last potential less the first. One run of all layers is "layer-parallel".
MOST, ENDLESS, WORK = 1 << 62, 1 << 40000, [0]
MODES = ("layer-parallel", "layer-by-layer", "mixed")
MODELS = {"calculus": MODES, "streaming": MODES, "lanes": MODES[1:2]}


def toil(count):
    WORK[0] += count
    need(WORK[0] < 5 * 10**7, "asks for too much work", "malformed")


def numbers(value, count, least, most):
    need(type(value) is list and len(value) == count, f"needs lists of {count} numbers", "malformed")
    return [whole(one, least, most) for one in value]


def useful(total, most):
    """Counts up to ``most`` with a ceil(total / count) that no smaller one has."""
    found = [1]
    while found[-1] < total:
        found.append(-(-total // (-(-total // found[-1]) - 1)))
    return [count for count in found if count <= most]


class Layer:
    def __init__(self, document, at, latency):
        names = "operation feeds pin filters depth channels maps units pads size output_size kernel strides dilations"
        name, stages, unfit, self.groups, *rest = fields(document, "name", "stages", "unfit", "groups", *names.split())
        self.operation, self.feeds, pin, *given = rest
        need(type(name) is str and self.operation in ("convolution", "pool", "elementwise"), "is no layer", "malformed")
        need(self.feeds == sorted({whole(feed, 0, at - 1) for feed in self.feeds}), "feeds are no set", "malformed")
        self.pin = [one if one is None else whole(one) for one in fields(pin, "pes", "units", "idle")]
        self.filters, self.depth, self.channels, self.maps, self.units = numbers(given[:5], 5, 1, 1 << 20)
        self.pads = numbers(given[5], 2, 0, 1 << 16)
        self.size, self.out, kernel, self.strides, self.dilations = (numbers(one, 2, 1, 1 << 16) for one in given[6:])
        self.positions, self.window = math.prod(self.out), math.prod(kernel)
        self.new = min(self.window, math.prod(self.strides))  # Eq. 7
        self.weights = self.filters * self.depth * self.window if self.operation == "convolution" else 0
        chain = [whole(latency[stage], 1, 64) * whole(count, 1, 1 << 20) for stage, count in stages.items()]
        self.drain = max(0, sum(chain) - 1)
        self.unfit = {tuple(numbers(one, 2, 1, MOST)) for one in unfit}
        self.reach = [(k - 1) * d + 1 for k, d in zip(kernel, self.dilations, strict=True)]

    def work(self, pes, units, lanes=False):
        """Cycles for a position: Eq. 6; in the model lanes units may take output maps instead."""
        plain = -(-self.filters // pes) * -(-self.depth // units) * self.window
        maps, depth = (self.maps, 1) if self.operation == "pool" else (self.filters, self.depth)
        return min(plain, -(-maps // (pes * units)) * depth * self.window) if lanes else plain

    def steps(self, most, free):
        """Lemma Paces: (pace, fewest PEs, work), paces ascending."""
        (pes, units, idle), best = self.pin, {}
        shares = [self.units] if idle is None or not free else useful(self.depth, self.units)
        shares = range(1, self.units + 1) if free and self.unfit else shares
        for count in reversed(useful(self.filters, most) if pes is None else [pes]):
            for share in shares if units is None else [units]:
                toil(1)
                if 1 <= count <= most and 1 <= share <= self.units and self.fits(count, share):
                    best[self.work(count, share) + (idle or 0)] = (count, self.work(count, share))
        found = [(pace, *best[pace]) for pace in sorted(best)]
        least = [*itertools.accumulate((pes for _, pes, _ in found), min)]
        slow = [idle is None and at and one[1] >= least[at - 1] for at, one in enumerate(found)]
        return [one for one, left_out in zip(found, slow, strict=True) if not left_out]

    def fits(self, pes, units):
        """Lemma Programs."""
        return (-(-self.filters // -(-self.filters // pes)), units) not in self.unfit

    def windows(self, axis, made):
        """Of each output row or column the first and last of ``made`` input rows or columns, each of which counts
        several times if the image has more, of its window that are in the image."""
        step, edge = self.dilations[axis], self.size[axis] - 1
        times = max(1, self.size[axis] // made)
        for at in range(self.out[axis]):
            first = at * self.strides[axis] - self.pads[axis]
            last = first + self.reach[axis] - 1
            ends = first + max(0, -(first // step)) * step, last - max(0, -((edge - last) // step)) * step
            yield [min(max(end, 0), edge) // times for end in ends]


class Grid:
    def __init__(self, document):
        names = "rows columns links sides link_words buffers address_generators"
        rows, columns, links, sides, *limits = fields(document, *names.split())
        self.rows, self.columns = numbers([rows, columns], 2, 1, 1024)
        known = {*links} <= {"mesh", "torus", "diagonal"} and {*sides} <= {"north", "south", "west", "east"}
        need(known and links and sides, "has no links or sides", "malformed")
        self.links, self.sides = links, sides
        self.words, self.buffers, self.generators = (ENDLESS if one is None else whole(one, 1) for one in limits)

    def has(self, pe):
        row, column = numbers(pe, 2, 0, 1023)
        return row < self.rows and column < self.columns

    def borders(self, row, column):
        """How many borders with buffers a PE stands at."""
        at = {"north": row == 0, "south": row == self.rows - 1, "west": column == 0, "east": column == self.columns - 1}
        return sum(at[side] for side in self.sides)

    def near(self, row, column):
        """The PEs that a PE has links with, row by row."""
        steps = {"mesh": ((-1, 0), (0, -1), (0, 1), (1, 0)), "diagonal": ((-1, -1), (-1, 1), (1, -1), (1, 1))}
        found = {(row + a, column + b) for link in self.links if link != "torus" for a, b in steps[link]}
        if "torus" in self.links:
            found |= {((row + a) % self.rows, (column + b) % self.columns) for a, b in steps["mesh"]}
        return sorted((a, b) for a, b in found - {(row, column)} if 0 <= a < self.rows and 0 <= b < self.columns)

    def tree(self, region, root):
        """Lemma Links: for each PE of a region the next one towards ``root``."""
        inside, found, order = {*region}, {root: None}, [root]
        for pe in order:
            for near in self.near(*pe):
                if near in inside and near not in found:
                    found[near] = pe
                    order.append(near)
        return found


def towards(tree, pe):
    way = [pe]
    while tree[way[-1]] is not None:
        way.append(tree[way[-1]])
    return way


class Streams:
    """Lemma Links: words a cycle on each link, and buffers at each border PE, of the layers that work at once."""

    def __init__(self, net, members, paces, regions, ways):
        self.net, self.members, self.paces, self.regions, self.ways = net, members, paces, regions, ways
        self.words, self.buffers, self.trees = collections.Counter(), collections.Counter(), {}
        for key in net.streams(members):
            toil(20 * len(ways[key]) + sum(5 * len(regions[at]) for at in key[1:] if at is not None))
            self.carry(*key)
        most, held = net.grid.words, net.grid.buffers
        for (one, other), words in self.words.items():
            at = other if one is None else one if other is None else None
            need(words <= most * (1 if at is None else net.grid.borders(*at)), "a link carries more words than it can")
        need(all(count <= held for count in self.buffers.values()), "a border PE has more buffers than it reaches")

    def tree(self, at, root):
        if (at, root) not in self.trees:
            self.trees[at, root] = self.net.grid.tree(self.regions[at], root)
        return self.trees[at, root]

    def along(self, way, words):
        for link in itertools.pairwise(way):
            self.words[link] += words

    def parts(self, at, root):
        """The way of each PE of a layer with filters to ``root``, and its share of them."""
        filters, tree = self.net.layers[at].filters, self.tree(at, root)
        for number, pe in enumerate(self.regions[at][:filters]):
            yield towards(tree, pe), Fraction(len(range(number, filters, len(self.regions[at]))), filters)

    def made(self, at):
        return Fraction(self.net.layers[at].maps, self.paces[at])

    def carry(self, kind, source, target):
        way = self.ways[kind, source, target]
        if source is not None:
            words = self.made(source)
            self.along(way, words)
            for own, share in self.parts(source, way[0]):
                self.along(own, words * share)
            if target is None:
                self.words[way[-1], None] += words
                self.buffers[way[-1]] += 1
            else:
                self.along(towards(self.tree(target, self.ways["weights", None, target][-1]), way[-1]), words)
            return
        layer = self.net.layers[target]
        inner = [j for j in layer.feeds if j in self.members]
        kept = [j for j in layer.feeds if j not in self.members] if kind == "stored" else inner
        maps = layer.channels if kind == "frame" else sum(self.net.layers[j].maps for j in kept)
        words = Fraction(maps * layer.window, self.paces[target])
        self.words[None, way[0]] += words
        self.along(way, words)
        if layer.operation == "convolution" and (layer.groups == 1 or layer.filters > layer.groups):
            for pe, above in self.tree(target, way[-1]).items():
                if above is not None:
                    self.words[above, pe] += words
        else:
            for own, share in self.parts(target, way[-1]):
                self.along(own[::-1], words * share)
        if kind != "weights":
            self.buffers[way[0]] += 1
            return
        written = sum(self.made(j) for j in inner)
        self.words[way[0], None] += written
        self.along(way[::-1], written)
        self.buffers[way[0]] += bool(inner) + (layer.operation == "convolution")


class Network:
    def __init__(self, problem, is_run=False):
        names = "objective model mode sharing free_units layers segments clock_hz pes word_bytes interval bytes"
        sense, unit, latency, array, *rest = fields(problem, "sense", "unit", "unit_latency", "array", *names.split())
        self.grid = Grid(array)
        self.objective, self.model, self.mode, self.sharing, self.free, layers, self.starts, *rest = rest
        units = {"throughput": ("most", "fps"), "latency": ("least", "cycles"), "pes": ("least", "PEs")}
        need(units[self.objective] == (sense, unit), "has another sense or unit", "malformed")
        known = self.mode in MODELS[self.model] and type(self.sharing) is type(self.free) is bool
        need(known and type(layers) is list and 1 <= len(layers) <= 1000, "has no such model", "malformed")
        self.clock, self.pes, self.word = numbers(rest[:3], 3, 1, MOST)
        self.interval, self.bytes = (ENDLESS if one is None else whole(one, -MOST) for one in rest[3:])
        starts = self.starts is None or numbers(self.starts, len(self.starts), 0, len(layers) - 1)
        need(starts is True or starts == sorted({0, *starts}), "segments are no set from 0 on", "malformed")
        need(not (self.sharing and self.mode == "mixed"), "runs with shared PEs are not searched", "not certified")
        self.streaming = self.model == "streaming"
        self.layers = [Layer(layer, at, latency) for at, layer in enumerate(layers)]
        self.drains = [layer.drain if self.streaming else 0 for layer in self.layers]
        toil(sum((len(layer.feeds) + 1) * (50 + sum(layer.out) * self.streaming) for layer in self.layers))
        self.readers = [[] for _ in layers]
        self.edges = {(i, j): self.lines(i, j) for i, layer in enumerate(self.layers) for j in layer.feeds}
        for i, j in self.edges:
            self.readers[j].append(i)
        self.last = [at for at, by in enumerate(self.readers) if self.streaming or is_run or not by]

    def streams(self, members):
        """Lemma Links: the streams of the layers ``members``, which work at once."""
        for at in members:
            outer = [j for j in self.layers[at].feeds if j not in members]
            yield "weights", None, at
            yield from (("maps", j, at) for j in self.layers[at].feeds if j in members)
            if outer or not self.layers[at].feeds:
                yield "stored" if outer else "frame", None, at
            if not self.readers[at] or any(one not in members for one in self.readers[at]):
                yield "stored" if self.readers[at] else "result", at, None

    def borders_hold(self):
        """Lemma Links: whether there are generators for all streams from and to the buffers, and buffers for them at
        the border PEs, those that one layer needs two of at a single one."""
        every, alone = range(len(self.layers)), self.mode == "layer-by-layer"
        runs = [range(at, at + 1) for at in every] if alone else [every]
        outside = [sum(None in key for key in self.streams(members)) for members in runs]
        if alone or max(outside) > self.grid.generators:
            return max(outside) <= self.grid.generators
        pairs = sum(bool(layer.feeds) and layer.operation == "convolution" for layer in self.layers)
        idle = sum(not layer.feeds and layer.operation != "convolution" for layer in self.layers)
        border = {(r, c) for r in range(self.grid.rows) for c in range(self.grid.columns) if self.grid.borders(r, c)}
        held = self.grid.buffers
        return outside[0] + pairs - idle <= held * len(border) and pairs <= held // 2 * len(border)

    def placed(self, runs, pes_of, paces, shared, regions, ways):
        """Lemma Links: every layer's PEs stand in one piece, apart from others at work, and streams find their ways."""
        need(type(regions) is list and len(regions) == len(self.layers), "needs a region for each layer", "malformed")
        need(all(self.grid.has(pe) for region in regions for pe in region), "a PE is not on the array")
        regions, group = [[tuple(pe) for pe in region] for region in regions], {}
        for number, one in enumerate(shared):
            group |= dict.fromkeys(one, -1 - number)
        for at, region in enumerate(regions):
            toil(20 * len(region))
            whole_piece = len({*region}) == len(region) == pes_of[at] == len(self.grid.tree(region, region[0]))
            need(whole_piece, "a layer has other PEs, or not in one piece")
        found = {}
        for kind, source, target, way in ways:
            way = [tuple(numbers(pe, 2, 0, 1023)) for pe in way]
            need((kind, source, target) not in found and len({*way}) == len(way) > 0, "a stream has two ways")
            found[kind, source, target] = way
        need({*found} == {key for members in runs for key in self.streams(members)}, "streams have other ways")
        for (_, source, target), way in found.items():
            ends = all(end in regions[at] if at is not None else self.grid.borders(*end)
                       for at, end in ((source, way[0]), (target, way[-1])))
            linked = all(two in self.grid.near(*one) for one, two in itertools.pairwise(way))
            need(ends and linked and all(self.grid.has([*pe]) for pe in way), "a way is not over links")
        for members in runs:
            owner = {}
            for at in members:
                for pe in regions[at]:
                    need(owner.setdefault(pe, group.get(at, at)) == group.get(at, at), "a PE has two layers at once")
            outside = sum(None in key for key in self.streams(members))
            need(outside <= self.grid.generators, "there are too few address generators")
            Streams(self, members, paces, regions, found)

    def lines(self, i, j):
        """Rows and columns of (a, b): layer i starts at least a * (pace of j) - b * (its own) after j has drained, the
        largest of both together: F pixels (Eqs. 8, 10); streaming: to the last one of the window of each position."""
        layer, feed = self.layers[i], self.layers[j]
        if not self.streaming or feed.positions == 1:
            return [(0, 0)], [(1 if self.streaming else layer.new, 0)]
        rows = [(last * feed.out[1], at * layer.out[1]) for at, (_, last) in enumerate(layer.windows(0, feed.out[0]))]
        return rows, [(last + 1, at) for at, (_, last) in enumerate(layer.windows(1, feed.out[1]))]

    def held(self, i, j, starts, paces):
        """Lemma Windows: the most pixels of layer j that wait for layer i, times maps; the least where no paces are
        given."""
        layer, feed = self.layers[i], self.layers[j]
        toil(5 * layer.positions)
        ends = [(0, 1)] * layer.positions
        if feed.positions > 1:
            (rows, columns), wide = ([*layer.windows(axis, feed.out[axis])] for axis in (0, 1)), feed.out[1]
            ends = [(a * wide + c, b * wide + d + 1) for a, b in rows for c, d in columns]
        gone, made = zip(*ends, strict=True)
        gone = [*itertools.accumulate(reversed(gone), min)][::-1]
        if paces:
            interval = max(pace * one.positions for pace, one in zip(paces, self.layers, strict=True))
            since = starts[i] - starts[j] - self.drains[j]
            frames = range((starts[i] - starts[j] + paces[i] * layer.positions) // interval + 1)
            toil(len(frames) * layer.positions)
            times = (since + at * paces[i] for at in range(1, layer.positions + 1))
            made = [sum(min(max((time - frame * interval) // paces[j], 0), feed.positions) for frame in frames)
                    for time in times]
        return max(here - left for here, left in zip(made, gone, strict=True)) * feed.maps

    def words(self, *timing):
        """Words in buffers: Eq. 14 one by one, else Eqs. 2 and 15 to 17; streaming: what waits in line buffers."""
        if self.streaming:
            return sum(one.weights for one in self.layers) + sum(self.held(i, j, *timing) for i, j in self.edges)
        if self.mode == "layer-by-layer":
            made = [one.maps * one.positions for one in self.layers]
            inputs = [sum(made[j] for j in one.feeds) if one.feeds else one.channels * math.prod(one.size)
                      for one in self.layers]
            return max(n + one.weights + one.maps * one.positions for n, one in zip(inputs, self.layers, strict=True))
        total, rows = 0, {}
        for i, layer in reversed(list(enumerate(self.layers))):
            rows[i] = (max([rows[r] for r in self.readers[i]], default=1) - 1) * layer.strides[0] + layer.reach[0]
            between = (rows[i] - layer.strides[0]) * layer.size[1] * layer.channels
            total += layer.weights + (between if layer.operation == "convolution" else layer.maps)
        return total

    def configured(self):
        """Weights and line buffers in raster order, the least at any paces (lemma Windows): what a limit binds."""
        return sum(one.weights for one in self.layers) + sum(self.held(i, j, (), ()) for i, j in self.edges)

    def has_room(self, starts=(), paces=()):
        return self.bytes == ENDLESS or self.words(starts, paces) * self.word <= self.bytes

    def cost(self, pes_of, units_of, idle_of, shared):
        """Interval, latency and PEs of an allocation that keeps every rule but the limits."""
        works, paces, starts = [], [], []
        for i, (layer, *mine) in enumerate(zip(self.layers, pes_of, units_of, idle_of, strict=True)):
            pes, units, idle = [whole(one, least) for one, least in zip(mine, (1, 1, 0), strict=True)]
            kept = all(pin in (None, one) for pin, one in zip(layer.pin, mine, strict=True)) and units <= layer.units
            need(kept and (self.free or layer.pin[1] or units == layer.units), "the mapping breaks a pin or its units")
            need(layer.fits(pes, units), "no PE has room for a layer's program")
            works.append(layer.work(pes, units, self.model == "lanes"))
            paces.append(works[i] + idle)
            fed = all(paces[i] >= layer.new * paces[j] for j in layer.feeds)
            need(fed or self.streaming or self.mode == "layer-by-layer", "the mapping breaks Eq. 9")
            starts.append(0)
            for j in layer.feeds:
                delay = sum(max(a * paces[j] - b * paces[i] for a, b in lines) for lines in self.edges[i, j])
                starts[i] = max(starts[i], starts[j] + self.drains[j] + delay)
        self.paces = paces
        need(self.has_room(starts, paces), "the mapping needs more room than there is")
        times = [pace * layer.positions for pace, layer in zip(paces, self.layers, strict=True)]
        members = [whole(at, 0, len(works) - 1) for group in shared for at in group]
        need(len({*members}) == len(members) and (self.sharing or not shared), "the mapping shares what it may not")
        for group in shared:
            busy = sum(works[at] * self.layers[at].positions for at in group)
            need(group and all(pes_of[at] == 1 and times[at] >= busy for at in group), "a shared PE is late")
        if self.mode == "layer-by-layer":
            return sum(times) + sum(self.drains), sum(times) + sum(self.drains), max(pes_of)
        end = max(starts[at] + times[at] + self.drains[at] for at in self.last)
        return max(times), end, sum(pes_of) - len(members) + len(shared)

    def ends(self, at, low, high):
        """Lemmas Paces and Shares: between these paces no other asks for fewer PEs and is shorter or longer."""
        steps, pinned = self.steps[at], self.layers[at].pin[2] is not None
        toil(len(steps) + 10)
        for (pace, pes, work), after in zip(steps, [*steps[1:], (high + 1,)], strict=bool(steps)):
            first, last = (pace, pace) if pinned else (max(low, pace), min(high, after[0] - 1))
            if low <= first <= last <= high:
                share = Fraction(work, high) if high < MOST else 0
                price = share if self.sharing and pes == 1 else pes
                yield from ((first, price), (last, price))

    def priced(self, ways, high):
        """Lemma Shares: shares of PEs as they are; then a PE each for layers no two of which share one, else none."""
        yield [*ways]
        if not self.sharing or not all(ways):
            return
        times, found = [pace * layer.positions for pace, layer in zip(high, self.layers, strict=True)], []
        shares = [min(price for _, price in way) for way in ways]
        busy = [share * time for share, time in zip(shares, times, strict=True)]
        for i in sorted(range(len(ways)), key=times.__getitem__):
            if shares[i] <= 1 and all(busy[i] + busy[j] > min(times[i], times[j]) for j in found):
                found.append(i)
        yield [[(pace, price if price > 1 else int(i in found)) for pace, price in way] for i, way in enumerate(ways)]

    def narrowed(self, low, high):
        """Lemma Caps, three times: for each layer the paces that matter with their PEs; None if one has none."""
        for _ in range(3):
            for i, layer in enumerate(self.layers if not self.streaming else ()):
                low[i] = max([low[i], *(layer.new * low[j] for j in layer.feeds)])
            for i in reversed(range(len(low) if not self.streaming else 0)):
                high[i] = min([high[i], *(high[r] // self.layers[r].new for r in self.readers[i])])
            ways = [list(self.ends(i, low[i], high[i])) for i in range(len(low))]
            masks = []
            for prices in self.priced(ways, high):
                least = [min((price for _, price in way), default=self.most + 1) for way in prices]
                spare = self.most - sum(least)
                if math.ceil(sum(least)) > self.most:
                    return None
                masks.append([[end[1] <= one + spare for end in way] for way, one in zip(prices, least, strict=True)])
            ways = [[end for end, *near in zip(way, *kept, strict=True) if all(near)]
                    for way, *kept in zip(ways, *masks, strict=True)]
            if not all(ways):
                return None
            low[:], high[:] = ([pick(end[0] for end in way) for way in ways] for pick in (min, max))
        return ways

    def refute(self, nodes, most, interval, cycles):
        """No allocation has so few PEs and cycles: a tree in preorder of [layer, k], "caps" and multipliers."""
        self.most, self.cycles = most, cycles
        need(type(nodes) is list, "needs a list of nodes", "malformed")
        self.steps = [layer.steps(most, self.free) for layer in self.layers]
        ends = [min(interval, cycles - wait if at in self.last else ENDLESS) for at, wait in enumerate(self.drains)]
        high = [end // layer.positions for end, layer in zip(ends, self.layers, strict=True)]
        stack = [([0] * len(high), high)]
        for node in nodes:
            need(stack, "the tree has ended before its nodes", "malformed")
            low, high = stack.pop()
            toil(len(low) * (20 + 4 * len(low) * self.sharing))
            ways = self.narrowed(low, high)
            if type(node) is list:
                at, pace = numbers(node, 2, 0, MOST)
                stack.append(([*low[:at], max(low[at], pace + 1), *low[at + 1 :]], [*high]))
                stack.append((low, [*high[:at], min(high[at], pace), *high[at + 1 :]]))
            elif ways is None:
                need(node == "caps", "a leaf that caps close has multipliers", "malformed")
            else:
                need(type(node) is dict, "a leaf of the tree is not closed by caps")
                self.multiplied(node, self.priced(ways, high))
        need(not stack, "the tree has nodes that are not closed")

    def multiplied(self, leaf, priced):
        """Lemma Multipliers: the most slack of the sum is below 0, with prices of either kind."""
        ways, *_ = priced = [*priced]
        pes, ends, starts, rates = fields(leaf, "pes", "ends", "starts", "rates")
        start, pace, slack = [0] * len(ways), [0] * len(ways), whole(pes) * self.most
        need(self.cycles < ENDLESS or ends == starts == [], "there is no limit on latency")
        for i, times in ends:
            need(i in self.last, "a layer does not end last")
            slack += whole(times) * (self.cycles - self.drains[i])
            start[i], pace[i] = start[i] - times, pace[i] - times * self.layers[i].positions
        for i, j, row, column, times in starts:
            (a, b), (c, d) = (way[whole(at)] for way, at in zip(self.edges[i, j], (row, column), strict=True))
            start[i], start[j] = start[i] + whole(times), start[j] - times
            slack -= times * self.drains[j]
            pace[i], pace[j] = pace[i] + (b + d) * times, pace[j] - (a + c) * times
        for i, j, times in rates:
            need(not self.streaming and (i, j) in self.edges, "the streaming model has no Eq. 9")
            pace[i], pace[j] = pace[i] + whole(times), pace[j] - times * self.layers[i].new
        need(type(ends) is type(starts) is type(rates) is list, "needs lists of multipliers", "malformed")
        for one in (*ends, *starts, *rates):
            numbers(one, len(one), 0, MOST)
        slack += sum(max(0, times) * self.cycles for times in start)
        most = [[max(p * z - pes * price for z, price in way) for p, way in zip(pace, ways, strict=True)]
                for ways in priced]
        need(slack + min(map(sum, most)) < 0, "the multipliers of a leaf leave room")

    def fastest(self, most):
        """Lemma Frame: the least cycles of a frame, layer by layer; None if pins contradict the array."""
        total = sum(self.drains)
        for layer in self.layers:
            free = zip(layer.pin, (most, layer.units, 0), strict=True)
            pes, units, idle = (one if pin is None else pin for pin, one in free)
            if not (1 <= pes <= most and 1 <= units <= layer.units):
                return None
            total += (layer.work(pes, units, self.model == "lanes") + idle) * layer.positions
        return total


def run(problem, first, end):
    """The layers from ``first`` to before ``end`` alone."""
    layers = [{**one, "feeds": [j - first for j in one["feeds"] if j >= first]} for one in problem["layers"][first:end]]
    return Network({**problem, "layers": layers, "segments": None}, True)


def cost_of(problem, net, mapping):
    """Interval, latency and PEs of a mapping that keeps every rule and limit."""
    names = ("pes", "units", "idle", "shared", "segments", "regions", "ways")
    *given, shared, starts, regions, ways = fields(mapping, *names)
    count, starts = len(net.layers), numbers(starts, len(starts), 0, len(net.layers) - 1)
    need({type(shared), *map(type, shared)} == {list}, "needs lists of layers that share", "malformed")
    need(starts == sorted({0, *starts}) and (starts == [0] or net.mode == "mixed"), "has wrong runs", "malformed")
    need(net.starts in (None, starts), "the mapping has other runs than pinned")
    given, costs, paces = [numbers(one, count, 0, MOST) for one in given], [], []
    for first, end in itertools.pairwise([*starts, count]):
        part = net if starts == [0] else run(problem, first, end)
        costs.append(part.cost(*(one[first:end] for one in given), shared))
        need(costs[-1][2] <= net.pes, "the mapping needs more PEs than there are")
        paces += part.paces
    if regions is not None:
        need(net.mode != "layer-by-layer", "nothing is placed layer by layer", "malformed")
        runs = [range(*ends) for ends in itertools.pairwise([*starts, count])]
        net.placed(runs, given[0], paces, shared, regions, ways)
    interval, cycles, pes = zip(*costs, strict=True)
    interval = sum(interval if starts == [0] else cycles)
    need(interval <= net.interval, "the mapping takes more cycles for a frame than asked for")
    return interval, sum(cycles), max(pes)


def refute_runs(problem, net, nodes, most, interval, cycles):
    """Lemma Runs: None stands for more cycles than any number."""
    alone, potentials, trees = fields(nodes, "alone", "potentials", "runs")
    count, known = len(net.layers), {}
    bounds = [*(range(count) if net.starts is None else net.starts), count]
    pairs = itertools.combinations(bounds, 2) if net.starts is None else itertools.pairwise(bounds)
    if net.has_room() and net.starts in (None, [0]):
        net.refute(alone, most, interval, cycles)
    potentials = [ENDLESS + 1 if one is None else whole(one) for one in potentials]
    need(len(potentials) == count + 1, "needs a potential between all layers", "malformed")
    trees = {(whole(first), whole(end)): (ENDLESS + 1 if least is None else whole(least), tree)
             for first, end, least, tree in trees}  # fmt: skip
    for first, end in sorted(pairs, key=lambda ends: ends[1] - ends[0]):
        if (first, end) == (0, count):
            continue
        known[first, end] = max(known.get((first, end - 1), 0), known.get((first + 1, end), 0))
        if (first, end) in trees:
            least, tree = trees[first, end]
            run(problem, first, end).refute(tree, most, ENDLESS, least - 1)
            known[first, end] = max(known[first, end], least)
        enough = known[first, end] >= potentials[end] - potentials[first]
        need(enough or not run(problem, first, end).has_room(), "a run may take less than its potentials say")
    need(not known or potentials[-1] - potentials[0] > min(interval, cycles), "runs may take less")


def check(problem, claim, evidence):
    WORK[0] = 0
    net = Network(problem)
    rule, mapping, nodes = fields(evidence, "rule", "mapping", "nodes")
    status, value, bound = fields(claim, "status", "value", "bound")
    most, interval, cycles = net.pes, net.interval, ENDLESS
    if status == "infeasible":
        need(value is bound is mapping is None, "what is infeasible has no value", "malformed")
    else:
        costs = (1, 1, 1) if mapping is None else cost_of(problem, net, mapping)
        found = {"throughput": Fraction(net.clock, costs[0]), "latency": costs[1], "pes": costs[2]}[net.objective]
        need(value is None if mapping is None else rational(value) == found, "the mapping has another value")
        bound = rational(bound)
        need(bound > 0 and (status == "bounded" or (mapping is not None and bound == found)), "is not proven optimal")
        if net.objective == "throughput":
            interval = min(interval, math.ceil(net.clock / bound) - 1)
        elif net.objective == "latency":
            cycles = math.ceil(bound) - 1
        else:
            most = min(most, math.ceil(bound) - 1)
    if rule == "streams":
        need(status == "infeasible" and net.mode != "mixed" and nodes == [], "has another mode", "malformed")
        need(not net.borders_hold(), "there are generators and buffers for all streams")
    elif rule == "storage":
        need(nodes == [], "needs no nodes", "malformed")
        room = net.has_room() and (net.mode != "layer-parallel" or net.configured() * net.word <= net.bytes)
        need(status == "infeasible" and net.mode != "mixed" and not room, "there is room for it")
    elif rule == "runs":
        need(net.mode == "mixed", "has no runs", "malformed")
        refute_runs(problem, net, nodes, most, interval, cycles)
    elif rule == "frame":
        fastest = net.fastest(most)
        need(net.mode == "layer-by-layer" and nodes == [], "has another mode", "malformed")
        need(fastest is None or fastest > min(interval, cycles), "a better allocation is not ruled out")
    else:
        need(rule == "tree" and net.mode == "layer-parallel", "has no such rule", "malformed")
        net.refute(nodes, most, interval, cycles)
    reached = "" if status != "bounded" else f", bound {bound}"
    given = "" if mapping is None or net.mode == "layer-by-layer" or mapping["regions"] else ", without its places"
    given += ", given which programs a PE has room for" if any(layer.unfit for layer in net.layers) else ""
    return (status if value is None else f"{status} {value} {problem['unit']}{reached}") + given


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
