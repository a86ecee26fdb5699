"""Check proofs of algorithm selections: ``python -I check_algorithm_selection.py FILE``. It imports nothing of mapper.

Exit code: 0 all certified, 1 one refuted, 2 malformed, 3 not certified. Exact numbers, only the standard library.
"""

import gc
import hashlib
import json
import math
import os
import pathlib
import re
import resource
import signal
import sys
from collections import Counter
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import chain, combinations, compress, pairwise, repeat
from operator import add

KIND, TRUSTED = "algorithm_selection", "the overlay's times as written here; lemmas Box, Elimination, Product and Cover"


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
FORBIDDEN = 1 << 200  # More than all else can take.
TILE = {"winograd": 2, "winograd-4x4": 4}  # m of Winograd's F(m x m, 3 x 3), by algorithm and layout.
LAYER = ("name", "images", "in_channels", "out_channels", "map", "output", "kernel", "strides", "dilations",
         "pads", "groups", "per_channel", "algorithms", "dataflows", "parts")
WINOGRAD = ("f_2_3", "f_4_3", "tiles", "rounds", "kernels", "smallest_kernel", "largest_stride",
            "transform_cycles")
MACHINE = ("pes", "clock_hz", "word_bytes", "bytes_per_s", "winograd", "initialisation", "traffic", "resource",
           "energy_pj")
ENGINES = ("pes", "dram_latency", "short_passes", "block_wires", "fill_and_drain", "pools", "kernels", "overlap",
           "kernel_parts", "inputs_ahead", "pools_on_the_way", "pools_first", "buffers", "board", "given", "ahead",
           "overlapping", "beside", "between", "resumed", "flattened", "direct", "fully_connected", "pooled",
           "max_pools")
STORE = ("name", "images", "elements", "shares", "readers", "through", "plain", "vertex", "whole", "given", "planes")

OBJECTIVES = "latency in cycles", "DSP slices", "energy times latency in pJ cycles"
ALGORITHMS, DATAFLOWS = ("im2col", "kn2row", *TILE), ("NS", "WS", "IS")
WORDS = {"kernels": ("square", "any"), "tiles": ("ceil", "area"), "rounds": ("exact", "ceil", "pieces")}


def typed(kind, *values):
    need({*map(type, values)} <= {kind}, f"needs values of type {kind.__name__}", "malformed")


def up(one, other):
    return -(-one // other)


def once(method):  # What a method gives for the same arguments is computed once.
    def known(self, *given):
        if (method, *given) not in self.memo:
            self.memo[method, *given] = method(self, *given)
        return self.memo[method, *given]

    return known


class Engines:
    """The overlay as it is generated [docs/kind/overlay-machine.md]: a layer's pieces are loaded, multiplied and stored
    at once, by movers of as many lanes as buffers have banks. Cycles of layers, in whole numbers."""

    COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64)
    HAND_OVER, OWN, TURN = 2, 2 + up(78, 8), 2  # Until an engine has its instruction; until a tile is turned.

    def __init__(self, given, layers, stream, large):
        old = dict.fromkeys(("kernel_parts", "inputs_ahead", "pools_on_the_way", "pools_first"), False)
        # As in documents before these fields were.
        given = old | {"block_wires": 1, "pooled": [], "direct": [], "resumed": []} | given
        (pes, self.latency, self.short, self.wires, self.ends, self.pools, self.kernels, self.overlap, self.more,
         self.inputs, way, order, room, board, outside, ahead, early, beside, between, resumed, flat, direct, full,
         pooled, maxima) = fields(given, *ENGINES)  # fmt: skip
        self.memo, self.large = {}, large  # F(4,3) is there: its sums have 36 bits.
        typed(bool, self.short, self.ends, self.pools, self.kernels, self.overlap, self.more, self.inputs, way, order)
        typed(list, outside, ahead, early, beside, between, resumed, flat, direct, full, pooled, maxima)
        positions = [*outside, *ahead, *early, *direct, *full, *(one[0] for one in (*flat, *maxima))]
        [whole(at, 0, len(layers) - 1) for at in positions], whole(self.latency, 1), whole(self.wires, 1, 2)
        sizes = [whole(one, 1) for one in chain(*(one[1:6] for one in (*flat, *maxima)))]
        sizes += [whole(one[6]) <= one[5] <= one[1] for one in maxima]
        self.among = {at: [] for at in beside}  # Pools between a layer and the one before.
        for at, pool in between:
            self.among.setdefault(at, []).append(maxima[whole(pool, 0, len(maxima) - 1)])
        follow = all(one[0] == at - 1 for at, every in self.among.items() for one in every)
        need(0 not in ahead and {*early, *self.among} <= {*ahead} and not {*early} & {*self.among} and follow
             and len({pool for _, pool in between}) == len(between) and all(sizes) and all(self.among.values()),
             "positions and sizes of engines are no such", "malformed")  # fmt: skip
        self.resumed = {}  # First layers after a stop, behind what adds.
        for at, pool, reads in resumed:
            typed(bool, reads)
            self.resumed[whole(at, 0, len(layers) - 1)] = maxima[whole(pool, 0, len(maxima) - 1)], reads
        adding = all(one[0] == max(0, at - 1) and one[6] for at, (one, _) in self.resumed.items())
        need(adding and not {*self.resumed} & {*ahead} and len(self.resumed) == len(resumed),
             "no such layers behind stops", "malformed")  # fmt: skip
        self.layers, self.given, self.ahead, self.full = layers, {*outside}, sorted({*ahead}), {*full}
        self.flat, self.maxima, self.direct, self.matrices = dict(flat), maxima, sorted({*direct}), {}
        need({*direct} <= {*ahead} and not {*direct} & {*early, *self.among, *self.flat}, "no such maps", "malformed")
        need(not pooled or (way and self.pools), "pools take no results on their way", "malformed")
        self.early, self.beside = ({*early}, {*beside}) if self.overlap else (set(), set())
        for at in self.full:
            sides = [*layers[at]["map"], *layers[at]["output"], *layers[at]["kernel"]]
            need({*sides} == {1}, "a fully connected layer has no map", "malformed")
        self.room = None if room is None else fields(room, "input", "kernel", "result", "tensor")
        self.deep = whole(self.room[3]) if self.room else 0
        [whole(one, 1) for one in (self.room or ())[:3]]
        self.board = None if board is None else [whole(one) for one in fields(board, "dsp", "bram36", "uram", "lut")]
        self.most = self.lanes(whole(pes, 1, 1 << 16))  # Lanes that DRAM feeds both ways, whose buffers the board has.
        if stream is not None:
            while self.most > 2 and 2 * self.most > stream:
                self.most //= 2
        lanes = 2
        while lanes <= self.most and self.fits(lanes):
            lanes *= 2
        self.most, self.banks = lanes // 2 if lanes > 2 else 0, max(2, lanes // 2)
        self.way, tiled = {}, {one[0]: [name for name in layers[whole(one[0], 0, len(layers) - 1)]["algorithms"]
                               if name in TILE and self.counts(one[0], name, 1)[1]] for one in pooled}  # fmt: skip
        need(not {*tiled} & self.full and not any(tiled.values()), "a pool takes results row by row", "malformed")
        self.way = {one[0]: self.pool(one[1:], layers[one[0]]) for one in pooled}

    def pool(self, given, layer):  # Its window, stride, padding above and left, and its map with all padding.
        high, wide, stride, above, _, rows, columns = [whole(one) for one in given]
        need(min(high, wide, stride) > 0 and rows >= high and columns >= wide and above < high, "no pool", "malformed")
        return high, stride, above, rows, columns

    def taken(self, at, count):  # Whether each of so many pieces gives the pool a row that ends a window of it.
        if at not in self.way:
            return True
        high, stride, above, rows, _ = self.way[at]
        bands = self.layers[at]["output"][0]
        ends = [0, *(min(rows, bands * k // count + above) for k in range(1, count)), rows]
        made = [max(0, (end - high) // stride + 1) for end in ends]
        return all(one < other for one, other in pairwise(made))

    def fits(self, lanes):  # Block memories and UltraRAMs: the largest memories are the latter, as far as there are.
        if self.board is None:
            return True
        memories = [(lanes, 512, 48), (1, 4096, 256), (1, 2048, 288)]
        if self.room:
            memories += [(self.wires * lanes, 2 * self.half(words, lanes) // self.wires, 16) for words in self.room[:2]]
            sums = 36 if self.large else 32
            memories += [(2 * lanes, self.room[2] // lanes, sums), (lanes, self.deep // lanes, 16)]

        def blocks(depth, width):  # Of 18 kbit.
            across = ((36, 1024), (18, 2048), (9, 4096))
            return min(up(width, bits) * up(2 * depth, words) for bits, words in across) if depth * width > 2304 else 0

        used = left = 0
        for count, depth, width in sorted(memories, key=lambda one: -one[0] * blocks(*one[1:])):
            large, small = count * up(depth, 4096) * up(width, 72), count * blocks(depth, width)
            ultra = small > large and used + large <= self.board[2]
            used, left = (used + large, left) if ultra else (used, left + small)
        return up(left, 2) <= self.board[1]

    def alone(self, stores):  # Maps that go from a layer to the next one alone, by reader: positions and channels.
        for one in stores:
            at, (layer, channels, read), *more = one["readers"][0] if one["readers"] else None, *one["shares"]
            if at in self.direct and layer == at - 1:
                need(not one["vertex"] and not one["through"] and not read and not more, "no such map", "malformed")
                self.matrices[at] = one["images"] * one["elements"], channels
        need([*sorted(self.matrices)] == self.direct, "no such maps", "malformed")

    @once
    def staying(self, lanes):  # By reader, in order: what a map takes of a bank, beside the one that is read meanwhile.
        found = {}
        for at in self.direct:
            positions, channels = self.matrices[at]
            words = positions * up(channels, lanes)
            if words + found.get(at - 1, 0) <= self.deep // lanes and positions <= 0xFFFF:
                found[at] = words
        return found

    @once
    def stays(self, at, low1, high1, low2, high2):  # On some array of a box: then no layer takes more.
        lanes, most = self.lanes(max(low1, low2)), self.lanes(max(high1, high2))
        return any(at in self.staying(1 << k) for k in range(lanes.bit_length() - 1, most.bit_length()))

    def half(self, words, lanes):  # Words of a bank in one half of a buffer; a bank of two wires is two memories.
        return max(1, words // (2 * lanes * self.wires)) * self.wires

    def even(self, rows):  # Rows as a buffer keeps them: an even number where it gives two at once.
        return up(rows, self.wires) * self.wires

    def lanes(self, side):
        return 1 << max(1, (side - 1).bit_length())

    def slices(self, rows, columns):
        return rows * columns + 5 * self.lanes(max(rows, columns)) + 11

    def widest(self, rows, columns, dsps):  # The most columns, fewer than ``columns``; more rows leave no more.
        best, lanes = 0, self.lanes(rows)
        while lanes <= self.most:
            rooms = [columns, lanes, *((one - 11 - 5 * lanes) // rows for one in dsps)]
            if self.board is not None:
                pe, lane = (96, 3420) if self.large else (88, 3020)
                luts = (self.board[3] - 9000 - (lane + 310 * self.wires) * lanes) // pe
                rooms += [(self.board[0] - 11 - 5 * lanes) // rows, luts // rows]
            best, lanes = max(best, min(rooms)), 2 * lanes
        return best

    def sizes(self, at, name, height, more, last=(False, False)):
        # Of a piece: a product a x b by b x c, how many; what goes in, and sums.
        one, m = self.layers[at], TILE.get(name, 0)
        (deep, taps), maps = self.shares(at, name, more, last[0]), self.maps(at, name, more, last[1])
        group, (wide, (down, right)) = one["out_channels"] // one["groups"], (one["output"][1], one["strides"])
        (maps, calls), a, b = (group, maps // group) if one["groups"] > 1 else (maps, 1), height * wide, deep
        into, across, sums = a, one["in_channels"], a
        if at in self.full:
            a = into = sums = one["images"]
        elif m:
            rounds = math.prod(up(side, 3) for side in one["kernel"])
            a, calls = height * up(wide, m), calls * rounds * (m + 2) ** 2
            into, sums = rounds * (m + 2) ** 2 * a, (m + 2) ** 2 * a
        elif name == "kn2row":
            patch = up(one["map"][1], right)
            reach = min(one["map"][0], (height - 1) * down + (one["kernel"][0] - 1) * one["dilations"][0] + 1)
            a, calls, into = height * patch, calls * taps, down * right * up(reach, down) * patch
            sums = a
        else:
            b, across = deep * taps, across * one["window"]
        return (a, b, maps, calls), (into, across), sums

    @once
    def parts(self, at, name, more):  # Of the depth and of the maps of kernels, so that each fits half their buffer.
        one = self.layers[at]
        if self.room is None or more > 1:  # Or so many parts of the maps, for which the input is loaded once.
            return 1, up(one["out_channels"], up(one["out_channels"], more))
        half = self.half(self.room[1], self.banks)
        taps, depth, lines = one["window"], one["in_channels"] // one["groups"], up(one["out_channels"], self.banks)
        if name in TILE:
            taps = math.prod(up(side, 3) for side in one["kernel"]) * (TILE[name] + 2) ** 2
        rows = self.even(taps * depth)
        if one["groups"] > 1:  # A part has whole groups.
            fits = half // rows * self.banks // (one["out_channels"] // one["groups"])
            return (1, up(one["groups"], fits)) if fits else None
        if rows <= half:
            return 1, up(lines, half // rows)
        if name in TILE or (one["images"] > 1 and at not in self.full):  # Sums of one piece stay for all of the depth.
            return None
        if name == "im2col":
            return up(rows, half), lines
        even = [k for k in range(2, taps + 1) if taps % k == 0 and self.even(taps // k * depth) <= half]
        return (even[0], lines) if even else None

    def shares(self, at, name, more, last=False):
        # Rows and taps of a part, or of the last: as many taps as others in kn2row, in im2col rows of all.
        one, parts = self.layers[at], self.parts(at, name, more)[0]
        depth, taps = one["in_channels"] // one["groups"], one["window"]
        rows = up(taps * depth, parts)
        rows = taps * depth - (parts - 1) * rows if last else rows
        return {"kn2row": (depth, taps // parts), "im2col": (rows, 1)}.get(name, (depth, taps))

    def ways(self, at, name):  # Numbers of parts: 1 for as many as fit; of an input that is one piece, down to a row.
        one, (deep, parts), found = self.layers[at], self.parts(at, name, 1) or (0, 0), [1]
        single = deep == one["groups"] == (1 if at in self.full else one["images"]) and 1 in self.counts(at, name, 1)[1]
        while self.more and self.kernels and single and parts < up(one["out_channels"], self.banks):
            parts = min(2 * parts, up(one["out_channels"], self.banks))
            found.append(parts)
        return found

    def maps(self, at, name, more, last=False):  # Of every part but the last, which has what is left.
        one, parts = self.layers[at], self.parts(at, name, more)[1]
        group = one["out_channels"] // one["groups"] if one["groups"] > 1 else 1
        most = up(one["out_channels"] // group, parts) * group
        return one["out_channels"] - (parts - 1) * most if last else most

    @once
    def counts(self, at, name, more):  # Numbers of pieces that fit the buffers.
        one = self.layers[at]
        bands, found = up(one["output"][0], TILE.get(name, 1)), []
        if more > 1 or self.parts(at, name, more) is None:
            return bands, [1] if more > 1 else []
        maps = self.maps(at, name, more)
        for count in self.COUNTS if self.parts(at, name, more)[0] == 1 else [1]:
            _, (rows, columns), sums = self.sizes(at, name, up(bands, count), more)
            lines = up(columns, self.banks)
            fits = self.room is None or (self.even(rows) * lines <= self.half(self.room[0], self.banks)
                                         and sums * up(maps, self.banks) <= self.room[2] // self.banks)  # fmt: skip
            found += [count] if count <= bands and fits and self.taken(at, count) else []
        return bands, found

    def takes(self, at, name):  # Whether an algorithm reads maps channel by channel: positions as they come.
        one = self.layers[at]
        if at in self.full or one["groups"] > 1 or one["strides"] != [1, 1]:
            return False
        bare = one["kernel"] == one["dilations"] == [1, 1] and not any(chain(*one["pads"]))
        return name == "kn2row" or (name == "im2col" and bare)

    def gives(self, at, name):  # Whether what an algorithm makes leaves channel by channel.
        if name in TILE or at in self.full or at in self.way:
            return False
        one = self.layers[at]
        return name != "kn2row" or up(one["map"][1], one["strides"][1]) == one["output"][1]

    def loads(self, at, name, height, lanes, kept, lies, above=0):  # Of a piece, so many rows of it above the map.
        one, m, start = self.layers[at], TILE.get(name, 0), self.HAND_OVER + (1 if kept else self.latency)
        deep, wide, images = one["in_channels"], one["output"][1], one["images"]
        if at in self.flat:
            channels, size = deep // self.flat[at], self.flat[at]
            return images * (size * up(channels, lanes) + start) + self.restored(at, lanes)
        if at in self.full:
            return images * up(deep, lanes) + start
        if m:
            tiles = math.prod(up(side, 3) for side in one["kernel"]) * height * up(wide, m)
            return tiles * (m + 2) ** 2 * up(deep, lanes) + start + (m + 2) ** 2 + self.TURN
        bare = one["kernel"] == one["strides"] == one["dilations"] == [1, 1] and not any(chain(*one["pads"]))
        if name == "im2col" and not bare:
            if at in self.given:
                return height * wide * up(one["window"] * deep, lanes) + start
            return height * wide * one["window"] * one["groups"] * up(deep // one["groups"], lanes) + start
        (down, right), reach = one["strides"], (height - 1) * one["strides"][0] + 1
        reach = min(one["map"][0], reach + (one["kernel"][0] - 1) * one["dilations"][0] - above)
        positions = down * right * up(reach, down) * up(one["map"][1], right)
        return (deep * up(positions, lanes) if lies[0] else positions * up(deep, lanes)) + start

    def restored(self, at, lanes):  # Cycles in which maps come channel by channel from a buffer, and none from DRAM.
        if at not in self.flat:
            return 0
        one, size = self.layers[at], self.flat[at]
        return one["images"] * (one["in_channels"] // size * up(size, lanes) + self.HAND_OVER + 1)

    def answers(self, at, name, lanes):  # Cycles of a load in which DRAM answers, or is not asked at all.
        streams = self.layers[at]["images"] if at in self.flat else 1
        tail = (TILE[name] + 2) ** 2 + self.TURN if name in TILE else 0  # The last tile leaves the transform.
        return streams * (self.HAND_OVER + self.latency) + tail + self.restored(at, lanes)

    def unread(self, at, lanes, own):  # Cycles before a layer's first product in which nothing but kernels is read.
        found = 0
        for _, _, channels, streams, more, _, left in self.among.get(at, []) if self.pools else []:
            if not left:
                return found  # A max pool waits until kernels are in.
            found += left * up(channels, lanes) + streams * (self.HAND_OVER + self.latency) + more
        return found + (0 if at in self.beside and self.pools else own)

    def runs(self, at, lanes, begin, free):  # Cycles of a pool beside which a layer begins; of them the pool reads.
        if at not in self.beside or not self.pools:
            return 0, 0
        _, _, channels, _, _, last, left = self.among[at][-1]
        rest = last * up(channels, lanes) + self.HAND_OVER + 1 + (0 if left else self.latency) - self.OWN
        found = min(max(0, rest), begin if left else free)
        return found, 0 if left else found

    def stores(self, at, name, height, lanes, maps, lies):  # Cycles of storing a piece of so many maps.
        one, m, lines = self.layers[at], TILE.get(name, 0), up(maps, lanes)
        if m:
            tiles = height * up(one["output"][1], m)
            return tiles * (m + 2) ** 2 * lines + self.HAND_OVER + 1 + m * m + self.TURN
        if at in self.way:  # Padded rows, and the pool's two cycles.
            return height * self.way[at][4] * lines + self.HAND_OVER + 3
        rows = one["images"] if at in self.full else height * one["output"][1]
        return (maps * up(rows, lanes) if lies[1] else rows * lines) + self.HAND_OVER + 1

    def edge(self, at, lanes, maps, single):  # What the last piece's store has more, of a single one above, too.
        if at not in self.way:
            return 0
        _, _, above, rows, columns = self.way[at]
        left = rows - (0 if single else above) - self.layers[at]["output"][0]
        return left * columns * up(maps, lanes)

    @once
    def streams(self, at, name, lanes, more, lies, kept, ends):
        """By number of pieces: the first load, (load, store, product) of low and of high pieces, which of an image
        are high, of how many images, how often of three in a row but the first and the last which are, and what the
        last store has more."""
        (bands, counts), one, maps = self.counts(at, name, more), self.layers[at], self.maps(at, name, more, ends[1])
        images, found = 1 if at in self.full else one["images"], []
        for count in counts:
            low = bands // count
            two = [(self.loads(at, name, height, lanes, kept, lies),
                    self.stores(at, name, height, lanes, maps, lies),
                    self.sizes(at, name, height, more, ends)[0]) for height in (low, low + 1)]  # fmt: skip
            high = [(k + 1) * bands // count - k * bands // count > low for k in range(count)]
            three = [(high[k - 1], high[k], high[(k + 1) % count]) for k in range(count)]
            inner = Counter({each: images * number for each, number in Counter(three).items()})
            inner.subtract([three[0], three[-1]])
            edge = self.edge(at, lanes, maps, count * images == 1)
            first = self.loads(at, name, low, lanes, kept, lies, one["pads"][0][0])
            asks = [load - self.answers(at, name, lanes) for load, *_ in two]
            reads = self.loads(at, name, bands, lanes, kept, lies) - self.answers(at, name, lanes)
            if lies[0]:  # Each piece fills its last row of lanes by itself.
                reads = sum(asks[one] for one in high)
            found.append((first, two, high, images, inner, edge, 0 if kept else images * reads))
        return found, self.kernel(at, name, lanes, more, ends)

    def kernel(self, at, name, lanes, more, ends):  # Cycles until a part of the kernels, biases and factors are in.
        if not self.kernels:
            return 0
        one, (rows, taps) = self.layers[at], self.shares(at, name, more, ends[0])
        lines, scales = up(self.maps(at, name, more, ends[1]), lanes), self.scales(at, name, lanes, more, ends[1])
        if name in TILE:
            rows *= math.prod(up(side, 3) for side in one["kernel"]) * (TILE[name] + 2) ** 2
            return rows * lines + 9 + self.TURN + self.HAND_OVER + self.latency + scales
        return rows * taps * lines + self.HAND_OVER + self.latency + scales

    def scales(self, at, name, lanes, more, last=False):  # Cycles until a part's biases and factors are in.
        return 2 * up(self.maps(at, name, more, last), lanes) + self.HAND_OVER + self.latency

    def part(self, at, name, flow, more, lies, ends, low1, high1, low2, high2):
        """Of a part of the kernels, by number of pieces: its cycles alone, twice; the store of its last piece; until it
        needs the output mover, and of that what reads nothing; from its last product on; on the array; until its first
        product, what of that may be ahead, and reads nothing; what is read. And the part's kernels."""
        lanes, kept = self.lanes(max(high1, high2)), self.stays(at, low1, high1, low2, high2)
        streams, kernels = self.streams(at, name, lanes, more, lies, kept, ends)
        found, orders = [], 5 if at + 1 in self.ahead or self.parts(at, name, more) != (1, 1) else 1
        for first, two, high, images, inner, edge, reads in streams:
            timed = []
            for load, store, (a, b, c, calls) in two:
                over1, over2, beats = {"NS": (a, c, b), "WS": (b, c, a), "IS": (b, a, c)}[flow]
                passes, block = calls * up(over1, high1) * up(over2, high2), up(low1, 2) | 1 if self.wires > 1 else low1
                waits = low1 if flow == "NS" else block  # For results over one wire, or for a block over all.
                spent = passes * beats + (passes - 1) * max(0, waits - beats) * self.short
                drains = low1 + waits + low2 - (flow == "NS") + self.HAND_OVER
                timed.append((load, spent + drains * self.ends, store))
            array = images * sum(timed[one][1] for one in high)
            fetch = calls * (2 + up(11, 8)) + 2 + up(17, 8)  # Of the first product; it may take longer than the load.
            asked = None if kept else self.answers(at, name, lanes)
            run, store, begin, free, tail = self.pieces(first, fetch, timed, high, images, inner, edge, asked, orders)
            unread, first = max(first, fetch) - (0 if kept else first - asked), max(first, fetch)
            ahead = 0 if at in self.flat else first - fetch  # What is read channel by channel is not loaded ahead.
            found.append((run, run, store, begin, free, tail, array, first, ahead, unread, reads))
        return found, kernels

    def every(self, at, name, flow, more, lies, *box):  # A part, and the last of its depth; of all maps, of the last.
        deep, wide = self.parts(at, name, more)
        ends = (False, True) if self.kernels and self.overlap and deep > 1 else (False,)
        found = [self.part(at, name, flow, more, lies, (end, False), *box) for end in ends]
        if wide == 1 or self.maps(at, name, more, True) == self.maps(at, name, more):
            return found, found
        return found, [self.part(at, name, flow, more, lies, (end, True), *box) for end in ends]

    def times(self, at, name, flow, more, lies, low1, high1, low2, high2):
        """Cycles of a layer, of its last run, in which it reads its input, and of its kernels; of the store of its last
        piece, and until it needs the output mover; of a pool that it begins beside, and in which that reads; of its
        first load, and from its last product on until the last piece leaves. Of a box:
        passes and lanes of the largest array, what grows with an array of the least; whatever number of pieces is the
        best there, what a layer takes longer than the shortest it may hide less."""
        box = low1, high1, low2, high2
        lanes, (deep, runs), every = self.lanes(max(high1, high2)), self.parts(at, name, more), []
        once = self.kernels and self.overlap  # Depth is loaded while sums stay.
        found = self.every(at, name, flow, more, lies, *box)
        late = [[one[1] for one in two] for two in found]
        for count in range(len(found[0][0][0])):
            two = []
            for given, (kernels, *less) in zip(found, late, strict=True):
                run, last, store, begin, free, tail, array, first, ahead, unread, reads = given[0][0][count]
                if once and deep > 1:  # The part of the depth after each is loaded while that is multiplied.
                    end, asked = given[1][0][count], [max(array, one + self.OWN) for one in (kernels, *less)]
                    between = (deep - 2) * asked[0] + asked[1]
                    run, last, tail, begin, free = end[0] + between, end[1], end[6], begin - array, free - array
                two.append((run, last, store, begin, free, tail, array, first, ahead, kernels, unread))
            (run, last, store, begin, free, tail, array, first, ahead, kernels, unread), end = two
            number = runs * (1 if once else deep)
            if more > 1:  # While a part is multiplied, the next kernels are loaded and the results before leave.
                leaves, asked = run - begin, end[9] if runs == 2 else kernels
                free, begin = free - min(array, asked), first + max(array, asked + self.OWN)
                inner = [max(array, one + 2 * self.OWN, leaves + self.OWN) for one in (kernels, end[9])]
                tail, out = max(end[6], leaves + self.OWN), end[0] - end[3]
                run = begin + (runs > 2) * ((runs - 3) * inner[0] + inner[1]) + tail + out
                last, store = tail + out - self.OWN + reads + unread, end[2]
            elif number > 1:  # Kernels of a part follow the product of the one before.
                run, left = (number - 1) * run + end[0], last - reads - unread - self.OWN
                for times, now in ((number - 2, two[0]), (1, end)):
                    early = min(store + min(now[8], tail) * self.inputs, now[3]) if self.overlap else 0
                    run += times * max(now[9] - now[10] - left, -early) if self.kernels else 0
                last, store, tail, unread = end[1], end[2], end[5], end[10]
            if once and deep > 1:  # The next kernels follow the last part, and have its product and the store.
                last += reads + unread - two[0][3]
            number = self.counts(at, name, more)[1][count]
            every.append((run, last, store, begin, free, ahead, tail, unread, number, reads))
        kernels = late[0][0]
        total, last, store, begin, free, first, tail, unread, pieces, reads = min(every, key=lambda one: one[0])
        if (low1, low2) != (high1, high2):
            total = min(one[0] for one in every)
            store, unread = (max(one[k] - (one[0] - total) for one in every) for k in (2, 7))
            last = max(one[1] - one[9] - one[7] - (one[0] - total) for one in every) + reads + unread
            begin, free, first, tail, pieces = (max(one[k] for one in every) for k in (3, 4, 5, 6, 8))
        beside, shared = self.runs(at, lanes, begin, free)
        kernels -= self.unread(at, lanes, unread) if self.kernels else 0
        single = deep == runs == more == 1  # Else the next kernels are read in the last run, when no pool is left.
        shared = shared if (low1, low2) == (high1, high2) and single else 0
        alone = self.stopped(at, self.scales(at, name, lanes, more), kernels, begin, lanes)
        gives = (TILE[name] + 2) ** 2 if name in TILE else 9  # A transform gives on while it is not given.
        hides = (gives - 9) * (gives - 8) // (2 * gives)
        return (total, last, reads + unread, kernels, store, begin, beside, shared, first, tail, single,
                hides, pieces - 1, alone)  # fmt: skip

    def stopped(self, at, scales, kernels, begin, lanes):
        # Where nothing runs before a layer it waits for its kernels; behind what adds they are read as that leaves, and
        # a layer that does not read it begins meanwhile.
        waits = (self.OWN + max(scales + self.OWN, kernels)) * self.kernels
        if at not in self.resumed or not self.pools or not self.overlap:
            return waits
        (_, _, channels, _, _, last, _), reads = self.resumed[at]
        rest = max(0, last * up(channels, lanes) + self.HAND_OVER + 1 - self.OWN)
        return max(0, kernels - rest) * self.kernels if reads else max(waits - rest - self.OWN, -begin)

    def held(self, before, now):  # How long a store holds a layer up, which begins early: the next kernels are read.
        free, late = before[4] + min(now[8], before[9]) * self.inputs, self.late(before, now)
        return max(0, min(free, -late) - now[5]) * now[10]

    def late(self, before, now):  # Kernels are fetched behind the first product of the layer before.
        return now[3] - now[11] * before[12] + self.OWN - (before[1] - before[2]) + before[7]

    def between(self, at, before, now, held=0):  # What passes between two; below 0: the second begins early.
        late = self.late(before, now) - held
        ahead = min(now[8], before[9]) * self.inputs  # While the last product of the layer before runs.
        if at in self.early:
            return max(late, -min(before[4] + ahead, now[5]))
        if at in self.among and not self.among[at][-1][6]:
            return max(0, late) - now[6]  # A max pool waits for kernels.
        return late if late > 0 else -now[6]  # Those that are in before one that adds hold up nothing beside it.

    def pieces(self, load, fetch, timed, high, images, inner, edge, answers, orders):
        # The first is loaded, the last stored; the second load is so many orders behind the first product.
        own, count, (_, first, store) = self.OWN, len(high), timed[high[0]]
        asked, load = 0 if answers is None else load - answers, max(load, fetch)
        if count * images == 1:
            store += edge
            return load + first + store, max(0, store - own), load + first, load + first - asked, first
        load2, (_, last, store) = timed[high[1 % count]][0], timed[high[-1]]
        store += edge
        begin = load + max(first, max(load2, fetch) + orders * own)
        tail = max(last, timed[high[(count - 2) % count]][2] + own)
        taken = begin + tail + store
        for (left, now, loaded), number in inner.items():
            taken += number * max(timed[loaded][0] + own, timed[now][1], max(fetch, timed[left][2]) + 2 * own)
        return taken, max(0, store - own), begin, begin - asked - (0 if answers is None else load2 - answers), tail

    def pooled(self, lanes):  # Cycles of the pools and additions after every layer.
        found = [0] * len(self.layers)
        for after, pixels, channels, streams, more, *_ in self.maxima if self.pools else ():
            found[after] += pixels * up(channels, lanes) + streams * (self.HAND_OVER + self.latency) + more
        return found


class Overlay:
    """What layers and tensors take, in parts of a cycle, ``unit`` of them, and picojoules [Meng2021, sec. 5.1]."""

    def __init__(self, machine, layers, stores, engines=None):
        _, clock, self.bytes, bandwidth, winograd, start, traffic, _, energy = fields(machine, *MACHINE)
        self.mac, self.dram, self.idle = map(rational, fields(energy, "mac", "dram_byte", "pe_cycle"))
        need(min(self.mac, self.dram, self.idle) >= 0, "energies are not below 0", "malformed")
        self.winograd = dict(zip(WINOGRAD, fields(winograd, *WINOGRAD), strict=True))
        self.factor, self.per = fields(start, "factor", "per")
        self.burst, self.overhead, self.kernels, self.double, self.room = fields(
            traffic, "burst_words", "overhead_cycles", "weights", "double_buffering", "onchip_bytes")  # fmt: skip
        counts = [self.winograd[name] for name in ("smallest_kernel", "largest_stride", "transform_cycles")]
        for count in (self.factor, self.burst, self.overhead, 0 if self.room is None else self.room, *counts):
            whole(count)
        typed(bool, self.kernels, self.double, self.winograd["f_2_3"], self.winograd["f_4_3"])
        need(all(self.winograd[name] in words for name, words in WORDS.items()), "has no such words", "malformed")
        self.paid = {"layer": 0, "product": 1, "pass": 2}[self.per]
        word = Fraction(whole(clock, 1) * whole(self.bytes, 1), 1 if bandwidth is None else whole(bandwidth, 1))
        word *= bandwidth is not None
        self.unit, self.word = 144 * word.denominator, 144 * word.numerator
        typed(list, layers, stores)
        self.engines = None
        given = [fields({"parts": None} | one, *LAYER) for one in layers]
        self.layers = [self.layer(dict(zip(LAYER, one, strict=True))) for one in given]
        given = [fields({"planes": False} | one, *STORE) for one in stores]
        self.stores = [dict(zip(STORE, one, strict=True)) for one in given]
        if engines is not None:
            stream = self.unit // self.word if self.word else None
            self.engines, self.word = Engines(engines, self.layers, stream, self.winograd["f_4_3"]), 0
            for at, one in enumerate(self.layers):
                self.left(at, one)
                # Each a choice of its own, as what the next layer hides depends on it.
                ways = [[(name, flow, more, lies) for more in self.engines.ways(at, name)
                         for flow in one["dataflows"] for lies in self.lying(at, name)
                         if one["parts"] is None or more in one["parts"]] for name in one["algorithms"]]
                one["works"] = [work for work, own in zip(one["works"], ways, strict=True) for _ in own]
                one["ways"] = [*chain(*ways)]
                one["algorithms"] = [name for name, *_ in one["ways"]]
        readers = [whole(reader, 0, len(layers) - 1) for one in self.stores for reader in one["readers"]]
        need(len(readers) == len({*readers}), "a layer reads two tensors", "malformed")
        for one in self.stores:  # Whose reader on an edge has a given format has no algorithm that reads another.
            if one["given"] is not None and not one["vertex"] and self.engines is None:
                layer, form = self.layers[one["readers"][0]], self.formats(one)[0]
                kept = [self.form(layer, name)[0] == form[0] for name in layer["algorithms"]]
                for key in ("algorithms", "works"):
                    layer[key] = [*compress(layer[key], kept)]
        self.constant, self.written = [0, 0], []
        for one in self.stores:
            whole(one["plain"]), whole(one["images"], 1), whole(one["elements"], 1)
            typed(str, one["name"]), typed(list, one["shares"], one["readers"], one["through"])
            typed(bool, one["vertex"], one["whole"], one["planes"])
            [whole(reader, 0, len(layers) - 1) for reader in one["through"]]
            for layer, channels, read in one["shares"]:
                whole(channels, 1), whole(0 if layer is None else layer, 0, len(layers) - 1), typed(list, read)
                for store, words, through, beside in read:
                    source = self.stores[whole(store, 0, len(stores) - 1)]
                    whole(words), typed(bool, through, beside), need(source["vertex"] is True, "no vertex", "malformed")
                    if (layer is None and len(read) > 1) or through:  # Else what it takes is an edge's.
                        self.constant[0] += self.units(words * self.word)
                    if not self.copied(layer, read):
                        self.constant[1] += self.picojoules(words)
            single = len(one["shares"]) == len(one["readers"]) == 1 and one["shares"][0][0] is not None
            need(one["vertex"] is True or single, "an edge has one producer and one reader", "malformed")
            self.written.append([[[self.stored(form, channels, name) for form in self.formats(one)] for name in
                                  ([None] if layer is None else self.layers[layer]["algorithms"])]
                                 for layer, channels, _ in one["shares"]])  # fmt: skip
        if self.engines is not None:
            self.engines.alone(self.stores)

    def lying(self, at, name):  # How what a layer reads, and stores, may lie: channel by channel or not.
        able, found = (self.engines.takes(at, name), self.engines.gives(at, name)), ([False], [False])
        for one in self.stores:
            here = at in one["readers"], any(at == share[0] for share in one["shares"])
            for end in compress((0, 1), here):
                found[end][:] = [lies for lies in self.planes(one) if able[end] or not lies]
        return [(reads, writes) for reads in found[0] for writes in found[1]]

    def planes(self, one):  # By format of a tensor: whether it lies channel by channel.
        return [form[0] == "planes" for form in self.formats(one)]

    def left(self, at, one):  # Algorithms that the generated overlay has, of layers whose pieces fit its buffers.
        narrow = up(one["map"][1], one["strides"][1]) < one["output"][1]
        for key in ("known", "algorithms"):
            kept = [bool(self.engines.counts(at, name, 1)[1]) for name in one[key]]
            kept = [fits and not (name == "kn2row" and narrow) for name, fits in zip(one[key], kept, strict=True)]
            one["works"] = [*compress(one["works"], kept)] if key == "algorithms" else one["works"]
            one[key] = [*compress(one[key], kept)]

    def copied(self, layer, read):  # Whether a share is one stored tensor as it is.
        return layer is None and len(read) == 1 and not read[0][2]

    def joined(self, at, one):
        """Edges of what is read back into a tensor: time and energy by its own format and the other tensor's, or the
        algorithm of the layer to whose results it is added."""
        found = []
        for layer, channels, read in one["shares"]:
            for store, words, through, beside in read:
                held, back = self.formats(self.stores[store]), (self.units(words * self.word), self.picojoules(words))
                if self.copied(layer, read):  # Side by side in one format a part of a concatenation is not moved.
                    put = [[self.stored(to, channels, form[0]) for to in self.formats(one)] for form in held]
                    flat = [(0, 0) if beside and form == to else (back[0] + spent[0], back[1] + spent[1])
                            for form, row in zip(held, put, strict=True)
                            for to, spent in zip(self.formats(one), row, strict=True)]  # fmt: skip
                    found.append((len(self.layers) + store, len(self.layers) + at, flat))
                elif layer is not None and not through:  # Eq. 13, where results are scattered.
                    flat = []
                    for form in held:
                        for name in self.layers[layer]["algorithms"]:
                            few = words // (form[1] * form[2]) < self.burst and form[0] != name
                            wasted = form[1] * TILE.get(name, 0) ** 2 * few
                            flat.append((self.units((words + wasted) * self.word), 0))
                    found.append((len(self.layers) + store, layer, flat))
        return found

    def units(self, number):
        need(Fraction(number).denominator == 1, "a time is no whole number of units", "malformed")
        return int(number)

    def picojoules(self, words):
        return math.ceil(words * self.bytes * self.dram)

    def layer(self, one):
        numbers = [*(one[key] for key in ("images", "in_channels", "out_channels", "groups")),
                   *chain(*(one[key] for key in ("map", "output", "kernel", "strides", "dilations")))]  # fmt: skip
        need(all(whole(number, 1, 1 << 30) for number in numbers) and len(numbers) == 14, "not two axes", "malformed")
        pads = [whole(pad, 0, 1 << 30) for pad in chain(*one["pads"])]
        need(len(pads) == 4 and [*map(len, one["pads"])] == [2, 2], "has no two axes", "malformed")
        typed(bool, one["per_channel"]), typed(str, one["name"])
        for pinned, names in ((one["algorithms"], ALGORITHMS), (one["dataflows"], DATAFLOWS)):
            listed = pinned is None or (type(pinned) is list and all(name in names for name in pinned))
            need(listed, "pins are lists of names", "malformed")
        need(one["parts"] is None or type(one["parts"]) is list, "pins are lists", "malformed")
        one["window"], one["elements"], one["positions"] = (math.prod(one[key]) for key in ("kernel", "map", "output"))
        rule, (high, wide) = self.winograd, one["kernel"]
        suits = (high == wide or rule["kernels"] == "any") and max(high, wide) >= rule["smallest_kernel"]
        suits = suits and max(one["strides"]) <= rule["largest_stride"] and one["dilations"] == [1, 1]
        suits = suits and high * wide > 1
        one["known"] = [name for name, there in (("im2col", True), ("kn2row", high * wide > 1), ("winograd", suits and
                        rule["f_2_3"]), ("winograd-4x4", suits and rule["f_4_3"])) if there]  # fmt: skip
        one["algorithms"] = [name for name in one["known"] if one["algorithms"] is None or name in one["algorithms"]]
        one["dataflows"] = [name for name in DATAFLOWS if one["dataflows"] is None or name in one["dataflows"]]
        one["works"] = [self.work(one, name) for name in one["algorithms"]]
        one["read"] = [self.covered(one, axis) for axis in (0, 1)]
        return one

    def covered(self, one, axis):  # The rows, or columns, of the map that some window covers.
        keys = "map", "output", "kernel", "strides", "dilations"
        size, count, taps, step, dilation = (one[key][axis] for key in keys)
        need(count * taps <= 1 << 20, "a layer is too large", "malformed")
        places = {at * step + tap * dilation - one["pads"][axis][0] for at in range(count) for tap in range(taps)}
        return frozenset(place for place in places if 0 <= place < size)

    def work(self, one, name):  # Eqs. 10 to 12: products of a x b by b x c; words of kernels and of the input.
        images, groups, rule = one["images"], one["groups"], self.winograd
        depth, maps = one["in_channels"] // groups, one["out_channels"] // groups
        weights = Fraction(one["window"] * (1 if one["per_channel"] else depth * one["out_channels"]))
        if one["per_channel"]:
            images, groups, depth, maps = images * one["in_channels"], 1, 1, 1
        a, b, times, transform = Fraction(images * one["positions"]), depth, Fraction(groups), 0
        if name == "im2col":
            b = one["window"] * depth
        elif name == "kn2row":
            times = Fraction(groups * one["window"])
        else:
            m, exact = TILE[name], Fraction(one["window"], 9)
            pieces = math.prod(up(side, 3) for side in one["kernel"])
            runs = {"pieces": pieces, "exact": exact, "ceil": math.ceil(exact)}[rule["rounds"]]
            tiles = {"ceil": math.prod(up(side, m) for side in one["map"]), "area": Fraction(one["elements"], m * m)}
            a, times = Fraction(images * tiles[rule["tiles"]]), Fraction(groups * (m + 2) ** 2 * runs)
            weights, transform = weights / one["window"] * runs * (m + 2) ** 2, whole(rule["transform_cycles"]) * times
        # Eq. 9: what is spread over P1 and over P2, and the cycles of a pass.
        spread = {"NS": (a, maps, b), "WS": (b, maps, a), "IS": (b, a, maps)}
        used = [(math.ceil(x), math.ceil(y), self.units(each * times * self.unit)) for x, y, each in
                map(spread.__getitem__, one["dataflows"])]  # fmt: skip
        words = self.words(self.form(one, name), one["in_channels"])
        busy = math.ceil(a * b * maps * times * self.mac)
        return used, self.units(transform * self.unit), times * self.unit, weights, words, busy

    def form(self, one, name):  # The format in which an algorithm reads.
        bare = one["kernel"] == one["strides"] == one["dilations"] == [1, 1] and not any(chain(*one["pads"]))
        if name == "kn2row" or (name == "im2col" and bare):
            return "tensor3d", one["images"], one["elements"], 0, 0, ""
        shape = [one[key] for key in ("kernel", "map", *(("strides", "dilations", "pads") if name == "im2col" else ()))]
        sizes = (one["positions"], one["window"]) if name == "im2col" else (0, 0)
        return "toeplitz" if name == "im2col" else name, one["images"], one["elements"], *sizes, str(shape)

    def words(self, form, channels):  # Table 2 without the bandwidth.
        layout, images, elements, positions, window, _ = form
        if layout == "toeplitz":
            return Fraction(images * positions * window * channels)
        m = TILE.get(layout, 0)
        return Fraction(images * elements * channels) * (Fraction((m + 2) ** 2, m * m) if m else 1)

    def stored(self, form, channels, producer):  # Eq. 13: fewer channels than a burst waste bandwidth.
        m, words = TILE.get(form[0], 0), self.words(form, channels)
        spent = self.picojoules(words)
        if m and producer not in TILE and channels < self.burst:
            words *= 1 + Fraction(m * m, form[2] * channels)
        late = self.overhead * self.unit if form[0] == "toeplitz" and producer in TILE else 0
        return self.units(words * self.word) + late, spent

    def formats(self, one):  # Of the readers' algorithms; a Toeplitz matrix if no reader needs what it lacks; as given.
        plain, found, needs = ("tensor3d", one["images"], one["elements"], 0, 0, ""), {}, []
        if self.engines is not None:  # Layouts are made as tensors are loaded.
            forms = [plain, ("planes", *plain[1:])] if one["planes"] else [plain]
            need(not one["planes"] or self.alone(one), "pools take no map channel by channel", "malformed")
            return forms if one["given"] is None else [forms[whole(one["given"], 0, len(forms) - 1)]]
        for reader in one["readers"]:
            layer = self.layers[reader]
            whole_map = [len(rows) for rows in layer["read"]] == layer["map"] or reader in one["through"]
            needs.append(None if whole_map else layer["read"])
        needs += [None] if one["plain"] or one["whole"] else []
        for reader in one["readers"]:
            layer = self.layers[reader]
            held = None if [len(rows) for rows in layer["read"]] == layer["map"] else layer["read"]
            fits = all(held is None or (want is not None and all(map(frozenset.__ge__, held, want))) for want in needs)
            for name in layer["known"]:
                form = self.form(layer, name)
                form = plain if reader in one["through"] or form[0] == "tensor3d" else form
                if form[0] != "toeplitz" or fits:
                    found[form] = None
        found = [*found, *([plain] if (one["plain"] or not found) and plain not in found else [])]
        return found if one["given"] is None else [found[whole(one["given"], 0, len(found) - 1)]]

    def alone(self, one):  # Whether convolutions alone make and read a tensor, each all of it, or all that it makes.
        channels = sum(share[1] for share in one["shares"])
        size = one["images"], one["elements"], channels
        reads = [tuple(layer[key] for key in ("images", "elements", "in_channels"))
                 for layer in map(self.layers.__getitem__, one["readers"])]  # fmt: skip
        made = all(layer is not None and not read for layer, _, read in one["shares"])
        return one["vertex"] and made and {*reads} == {size} and not (one["plain"] or one["whole"] or one["through"])

    def kept(self, one, producer, reader, *box):  # Whether the tensor of an edge stays on the chip: wherever it fits.
        if self.engines is not None:
            return self.engines.stays(one["readers"][0], *box)
        first, second = self.layers[one["shares"][0][0]], self.layers[one["readers"][0]]
        used = [*first["works"][producer][3:5], *second["works"][reader][3:5]]
        words = sum(used) + second["images"] * second["positions"] * second["out_channels"]
        return bool(self.room) and math.ceil(words * self.bytes) <= self.room

    def contrary(self, one, layer, vertex, end):  # A layer does not read or make a tensor as that lies.
        if self.engines is None or not one["planes"]:
            return []
        lies = self.planes(one)
        flat = [FORBIDDEN * (way[3][end] != form) for way in self.layers[layer]["ways"] for form in lies]
        return [(layer, vertex, flat)]

    def graph(self, low1, high1, low2, high2, time=1, energy=0):
        """Lemma Box: an array of P1 x P2 takes no fewer passes than the largest of its box and no less I_SA than the
        least, so that no selection for it costs less than for these two; of a single shape the costs are exact."""
        loads, edges, setup, pes = [], [], self.factor * max(low1, low2), low1 * low2
        box = low1, high1, low2, high2

        def mixed(one):
            return time * one[0] + energy * one[1]

        own = {-1: [mixed(self.constant)]}
        if self.engines is not None:
            pools = self.engines.pooled(self.engines.lanes(max(high1, high2)))
            timed = [[self.engines.times(at, *way, *box) for way in one["ways"]] for at, one in enumerate(self.layers)]
            for at in self.engines.ahead:  # A layer before takes no less, so that no sum of it and a wait is less.
                held, scope = [[0] * len(timed[at - 1])], (at - 1, at)
                if at - 1 in self.engines.early:
                    rows = [[self.engines.held(one, now) for now in timed[at - 1]] for one in timed[at - 2]]
                    held, scope = (rows, (at - 2, *scope)) if any(map(any, rows)) else (held, scope)
                edges.append((*scope, [time * self.engines.between(at, one, later, waits) * self.unit for row in held
                                       for one, waits in zip(timed[at - 1], row, strict=True) for later in timed[at]]))
        for at, one in enumerate(self.layers):
            own[at], load = [], []
            if self.engines is not None:
                for (total, *_, first), (*_, weights, words, busy) in zip(timed[at], one["works"], strict=True):
                    spent = busy + math.ceil(total * pes * self.idle) if energy else 0
                    spent += self.picojoules(weights) if self.kernels else 0
                    alone = total + pools[at] + (0 if at in self.engines.ahead else first)
                    own[at].append(mixed((alone * self.unit, spent)))
                    load.append(mixed((0, self.picojoules(words))))
                loads.append(load)
                continue
            for used, transform, times, weights, words, busy in one["works"]:
                again = self.units(setup * times) if self.paid == 2 else 0
                taken = min(up(x, high1) * up(y, high2) * (each + again) for x, y, each in used) + transform
                taken += self.units(setup * (self.unit, times, 0)[self.paid])
                kernels, moved = self.units(weights * self.word) if self.kernels else 0, self.units(words * self.word)
                spent = busy + math.ceil(taken * pes * self.idle / self.unit) if energy else 0
                spent += self.picojoules(weights) if self.kernels else 0
                alone = max(taken, kernels) if self.double else taken + kernels
                own[at].append(mixed((alone, spent)))
                late = max(taken, kernels + moved) - alone if self.double else moved
                load.append(mixed((late, self.picojoules(words))))
            loads.append(load)
        for at, (one, written) in enumerate(zip(self.stores, self.written, strict=True)):
            vertex = len(self.layers) + at
            edges += [(tail, head, [*map(mixed, flat)]) for tail, head, flat in self.joined(at, one)]
            if one["vertex"]:
                own[vertex] = [0] * len(written[0][0])
                for (layer, _, read), costs in zip(one["shares"], written, strict=True):
                    if self.copied(layer, read):
                        continue
                    if layer is None:
                        own[vertex] = list(map(add, own[vertex], map(mixed, costs[0])))
                    else:
                        edges.append((layer, vertex, [*map(mixed, chain(*costs))]))
                        edges += self.contrary(one, layer, vertex, 1)
                for reader in one["readers"]:
                    own[reader] = list(map(add, own[reader], loads[reader]))
                    edges += self.contrary(one, reader, vertex, 0)
                continue
            (tail, _, _), head, forms = one["shares"][0], one["readers"][0], self.formats(one)
            reads = [self.form(self.layers[head], name)[0] for name in self.layers[head]["algorithms"]]
            reads = [0 if self.engines else [form[0] for form in forms].index(layout) for layout in reads]
            edges.append((tail, head, [0 if self.kept(one, i, j, *box) else mixed(costs[form]) + loads[head][j]
                                       for i, costs in enumerate(written[0]) for j, form in enumerate(reads)]))
        return own, edges


# Lemma Elimination: where a vertex goes, what it and the tables over it cost at least, for all choices of the vertices
# beside it, takes their place as a table over these. Whatever they choose, the least cost of all stays the same.
@lru_cache(64)
def places(union):  # Of a table over some of a union's vertices, (choices, held) of each: its row per choices of these.
    return reduce(lambda at, u: [k * u[0] + i if u[1] else k for k in at for i in range(u[0])], union, [0])


def turned(scope, other, size, flat):  # A table with its vertices in another order.
    step = {v: math.prod(size[u] for u in scope[at + 1 :]) for at, v in enumerate(scope)}
    return [flat[k] for k in reduce(lambda at, v: [k + i * step[v] for k in at for i in range(size[v])], other, [0])]


def eliminated(order, size, own, edges):
    tables, work = {v: {} for v in own}, -(1 << 25) - 1024 * sum(len(flat) for *_, flat in edges)
    place = {v: at for at, v in enumerate(dict.fromkeys([*order, *own]))}

    def put(scope, flat):  # The last of a scope goes first, and has a row of the table per choices of the others.
        *others, v = scope
        if not others:
            own[v] = list(map(add, own[v], flat))
            return
        rows, old = [flat[k : k + size[v]] for k in range(0, len(flat), size[v])], tables[v].get(tuple(others))
        tables[v][tuple(others)] = [list(map(add, *two)) for two in zip(old, rows, strict=True)] if old else rows

    for *scope, flat in edges:
        last = sorted(scope, key=place.__getitem__, reverse=True)
        put(last, flat if last == scope else turned(scope, last, size, flat))
    for v in order:
        scope, rows, several = [], [own.pop(v)], tables.pop(v)
        for left, near in enumerate(sorted(several, key=len), 1 - len(several)):
            union = sorted({*scope, *near}, key=place.__getitem__, reverse=True)
            work += reduce(lambda entries, u: entries * size[u], union, size[v] + 8) + len(union)
            need(work < 0, "the elimination takes too much work", "not certified")
            one, other = (places(tuple((size[u], u in held) for u in union)) for held in (scope, near))
            sums = map(map, repeat(add), map(rows.__getitem__, one), map(several[near].__getitem__, other))
            scope, rows = union, list(map(list, sums)) if left else sums  # Of the last join only the least are kept.
        put(scope or [-1], list(map(min, rows)))
    need(list(own) == [-1], "not all vertices are eliminated")
    return own[-1][0]


# Lemma Product: latencies and energies that keep weighted sums above what they are at least lie right of and above a
# polygon; on that the product is least at a corner, since it is quasiconcave where both are positive.
def min_product(lines):
    corners = []
    for (a, b, c), (d, e, f) in combinations(lines, 2):
        if a * e != b * d:
            x, y = Fraction(c * e - b * f, a * e - b * d), Fraction(a * f - c * d, a * e - b * d)
            if all(time * x + energy * y >= least for time, energy, least in lines):
                corners.append(x * y)
    return min(corners)


def check(problem, claim, evidence):
    names = ("objective", "longest", "array", "machine", "layers", "stores")
    engines = problem.get("engines")
    objective, longest, shape, machine, layers, stores = fields(
        {name: one for name, one in problem.items() if name != "engines"}, *names)  # fmt: skip
    need(engines is not None or "engines" not in problem, "has no engines", "malformed")
    (pes, *_, size, _), overlay = fields(machine, *MACHINE), Overlay(machine, layers, stores, engines)
    per_pe, others, banks, brams, limited = fields(
        size, "dsps_per_pe", "other_dsps", "brams_per_bank", "brams", "limits_shapes")  # fmt: skip
    whole(pes, 1, 1 << 16), whole(per_pe, 1), whole(others), whole(banks, 1), whole(brams), typed(bool, limited)
    unit, (rule, mapping, order, boxes) = overlay.unit, fields(evidence, "rule", "mapping", "order", "boxes")
    need(rule == "boxes" and objective in OBJECTIVES, "is not of these rules", "malformed")
    typed(list, order, boxes), [whole(v, 0, len(layers) + len(stores) - 1) for v in order]
    status, value, bound = fields(claim, "status", "value", "bound")
    need(shape is None or [whole(one, 1, 1 << 16) for one in shape][:2] == shape, "is no shape", "malformed")
    late = None if longest is None else math.floor(rational(longest) * unit)  # The most units that are allowed.
    need((late is None) <= (objective != OBJECTIVES[1]), "nothing limits the time", "malformed")
    need(late is None or objective != OBJECTIVES[2], "products have no longest time", "malformed")

    def widest(rows, most, dsps=()):  # The most columns beside so many rows; it falls with the rows.
        if overlay.engines is not None:
            return overlay.engines.widest(rows, most // rows, dsps)
        most, room = min([most, *((one - others) // per_pe for one in dsps)]), brams // banks
        allowed = max(min(rows, room - 3 * rows), (room - rows) // 3 if room >= 4 * rows else 0) if limited else most
        return max(0, min(most // rows, allowed))

    fewer = []
    if status == "infeasible":
        need(value is bound is mapping is None, "an infeasible problem has no values", "malformed")
        need(late is not None or boxes == [], "without a longest time no box can be closed")
        most, reached = pes, 1 << 999 if late is None else late + 1
        if any(not one["algorithms"] or not one["dataflows"] for one in overlay.layers):
            return "infeasible: a layer has no choice left"
    else:
        array, choices, forms = fields(mapping, "array", "choices", "formats")
        typed(list, array, choices, forms, *choices)
        rows, columns = whole(array[0], 1, 1 << 16), whole(array[1], 1, 1 << 16)
        need(len(array) == 2 and columns <= widest(rows, pes) and shape in (None, array), "the array has no such shape")
        pinned = []
        for one, layer, (name, flow, *parts) in zip(layers, overlay.layers, choices, strict=True):
            need(name in layer["algorithms"] and flow in layer["dataflows"], f"{one['name']} is not computed so")
            parts = whole(*parts or [1], 1)
            there = parts == 1 if engines is None else (name, flow, parts) in [way[:3] for way in layer["ways"]]
            need(there, f"the kernels of {one['name']} have no {parts} parts")
            pinned.append(one | {"algorithms": [name], "dataflows": [flow], "parts": [parts]})
        totals, laid, said = [], stores, iter(forms)
        if engines is not None:  # Layers read and store as the tensors lie.
            laid, forms = [], [0] * len(forms)
            for posed, one in zip(stores, overlay.stores, strict=True):
                at = whole(next(said, -1), 0, len(overlay.formats(one)) - 1) if one["vertex"] else None
                laid.append(posed | {"given": at if one["given"] is None else one["given"]})
        for weights in ((1, 0), (0, 1)):
            chosen = Overlay(machine, pinned, laid, engines)
            need(all(layer["algorithms"] for layer in chosen.layers), "a layer reads or makes no map that lies so")
            own, edges = chosen.graph(rows, rows, columns, columns, *weights)
            picked = dict.fromkeys(own, 0) | dict(zip((v for v in own if v >= len(layers)), forms, strict=True))
            need(all(0 <= whole(at) < len(own[v]) for v, at in picked.items()), "no such format", "malformed")
            paid = sum(flat[reduce(lambda k, v: k * len(own[v]) + picked[v], scope, 0)] for *scope, flat in edges)
            totals.append(paid + sum(costs[picked[v]] for v, costs in own.items()))
        units, spent = totals
        need(late is None or units <= late, "the selection takes too long")
        slices = overlay.engines.slices(rows, columns) if overlay.engines else rows * columns * per_pe + others
        values = up(units, unit), slices, Fraction(spent * units, unit)
        found, value, bound = values[OBJECTIVES.index(objective)], rational(value), rational(bound)
        need(value == found, f"the selection is not worth {value}, but {found}")
        need(bound == value or (0 <= bound < value and status == "bounded"), "the bound is not the value", "malformed")
        # Lower values: a shorter latency on any array, fewer PEs within the longest latency, a smaller product.
        fewer = [math.ceil(bound) - 1] if objective == OBJECTIVES[1] else []
        reached = ((math.ceil(bound) - 1) * unit + 1, None if late is None else late + 1, bound * unit)
        most, reached = pes, reached[OBJECTIVES.index(objective)]
    need(len(boxes) <= 4096, "too many boxes", "malformed")
    closed = []
    for low1, high1, low2, high2, *weights in boxes:
        sides = [whole(one, 1, 1 << 16) for one in (low1, high1, low2, high2)]
        need(sides[0] <= sides[1] and sides[2] <= sides[3], "a box is empty", "malformed")
        closed.append((low1, high1, low2, high2))
        need(not weights or objective == OBJECTIVES[2], "weights are for products", "malformed")
        lines = []
        for time, energy in ((1, 0), (0, 1), *weights)[: None if objective == OBJECTIVES[2] else 1]:
            own, edges = overlay.graph(*sides, whole(time), whole(energy))
            least = sum(map(min, own.values())) + sum(min(flat) for *_, flat in edges)
            if objective == OBJECTIVES[2] or least < reached:
                least = eliminated(order, {v: len(costs) for v, costs in own.items()}, own, edges)
            lines.append((time, energy, least))
        if objective == OBJECTIVES[2]:
            least = min_product(lines)
        need(least >= reached, f"arrays of {low1}..{high1} x {low2}..{high2} may be better than claimed")
    # Lemma Cover: between ends of boxes the same boxes hold so many rows; the columns allowed are most at the first.
    if shape is not None:
        inside = any(one[0] <= shape[0] <= one[1] and one[2] <= shape[1] <= one[3] for one in closed)
        need(inside or shape[1] > (widest(shape[0], most, fewer) if shape[0] <= most else 0), "the array is in no box")
        closed, most = [], 0
    for rows in sorted({1, *(one[0] for one in closed), *(one[1] + 1 for one in closed)}):
        reach = 0
        for low1, high1, low2, high2 in sorted(closed, key=lambda one: one[2]):
            if low1 <= rows <= high1 and low2 <= reach + 1:
                reach = max(reach, high2)
        need(rows > most or reach >= widest(rows, most, fewer), f"arrays of {rows} rows are in no box")
    return f"{status} {value}, {len(boxes)} boxes of shapes"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
