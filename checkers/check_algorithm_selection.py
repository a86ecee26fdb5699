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
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import chain, combinations, compress, repeat
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
TILE = {"winograd": 2, "winograd-4x4": 4}  # m of Winograd's F(m x m, 3 x 3), by algorithm and layout.
LAYER = ("name", "images", "in_channels", "out_channels", "map", "output", "kernel", "strides", "dilations",
         "pads", "groups", "per_channel", "algorithms", "dataflows")
WINOGRAD = ("f_2_3", "f_4_3", "tiles", "rounds", "kernels", "smallest_kernel", "largest_stride",
            "transform_cycles")
MACHINE = ("pes", "clock_hz", "word_bytes", "bytes_per_s", "winograd", "initialisation", "traffic", "resource",
           "energy_pj")
STORE = ("name", "images", "elements", "shares", "readers", "through", "plain", "vertex", "whole", "given")

OBJECTIVES = "latency in cycles", "DSP slices", "energy times latency in pJ cycles"
ALGORITHMS, DATAFLOWS = ("im2col", "kn2row", *TILE), ("NS", "WS", "IS")
WORDS = {"kernels": ("square", "any"), "tiles": ("ceil", "area"), "rounds": ("exact", "ceil", "pieces")}


def typed(kind, *values):
    need({*map(type, values)} <= {kind}, f"needs values of type {kind.__name__}", "malformed")


def up(one, other):
    return -(-one // other)


class Overlay:
    """What layers and tensors take, in parts of a cycle, ``unit`` of them, and picojoules [Meng2021, sec. 5.1]."""

    def __init__(self, machine, layers, stores):
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
        self.layers = [self.layer(dict(zip(LAYER, fields(one, *LAYER), strict=True))) for one in layers]
        self.stores = [dict(zip(STORE, fields(one, *STORE), strict=True)) for one in stores]
        readers = [whole(reader, 0, len(layers) - 1) for one in self.stores for reader in one["readers"]]
        need(len(readers) == len({*readers}), "a layer reads two tensors", "malformed")
        for one in self.stores:  # Whose reader on an edge has a given format has no algorithm that reads another.
            if one["given"] is not None and not one["vertex"]:
                layer, form = self.layers[one["readers"][0]], self.formats(one)[0]
                kept = [self.form(layer, name)[0] == form[0] for name in layer["algorithms"]]
                for key in ("algorithms", "works"):
                    layer[key] = [*compress(layer[key], kept)]
        self.constant, self.written = [0, 0], []
        for one in self.stores:
            whole(one["plain"]), whole(one["images"], 1), whole(one["elements"], 1)
            typed(str, one["name"]), typed(list, one["shares"], one["readers"], one["through"])
            typed(bool, one["vertex"], one["whole"]), [whole(reader, 0, len(layers) - 1) for reader in one["through"]]
            for layer, channels, loaded in one["shares"]:
                whole(channels, 1), whole(0 if layer is None else layer, 0, len(layers) - 1)
                self.constant[0] += self.units(whole(loaded) * self.word)
            self.constant[1] += self.picojoules(sum(loaded for _, _, loaded in one["shares"]))
            single = len(one["shares"]) == len(one["readers"]) == 1 and one["shares"][0][0] is not None
            need(one["vertex"] is True or single, "an edge has one producer and one reader", "malformed")
            self.written.append([[[self.stored(form, channels, name) for form in self.formats(one)] for name in
                                  ([None] if layer is None else self.layers[layer]["algorithms"])]
                                 for layer, channels, _ in one["shares"]])  # fmt: skip

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

    def kept(self, one, producer, reader):  # Whether the tensor of an edge stays on the chip: wherever it fits.
        first, second = self.layers[one["shares"][0][0]], self.layers[one["readers"][0]]
        used = [*first["works"][producer][3:5], *second["works"][reader][3:5]]
        words = sum(used) + second["images"] * second["positions"] * second["out_channels"]
        return bool(self.room) and math.ceil(words * self.bytes) <= self.room

    def graph(self, low1, high1, low2, high2, time=1, energy=0):
        """Lemma Box: an array of P1 x P2 takes no fewer passes than the largest of its box and no less I_SA than the
        least, so that no selection for it costs less than for these two; of a single shape the costs are exact."""
        loads, edges, setup, pes = [], [], self.factor * max(low1, low2), low1 * low2

        def mixed(one):
            return time * one[0] + energy * one[1]

        own = {-1: [mixed(self.constant)]}
        for at, one in enumerate(self.layers):
            own[at], load = [], []
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
            if one["vertex"]:
                own[vertex] = [0] * len(written[0][0])
                for (layer, _, _), costs in zip(one["shares"], written, strict=True):
                    if layer is None:
                        own[vertex] = list(map(add, own[vertex], map(mixed, costs[0])))
                    else:
                        edges.append((layer, vertex, [*map(mixed, chain(*costs))]))
                for reader in one["readers"]:
                    own[reader] = list(map(add, own[reader], loads[reader]))
                continue
            (tail, _, _), head, forms = one["shares"][0], one["readers"][0], self.formats(one)
            reads = [self.form(self.layers[head], name)[0] for name in self.layers[head]["algorithms"]]
            reads = [[form[0] for form in forms].index(layout) for layout in reads]
            edges.append((tail, head, [0 if self.kept(one, i, j) else mixed(costs[form]) + loads[head][j]
                                       for i, costs in enumerate(written[0]) for j, form in enumerate(reads)]))
        return own, edges


# Lemma Elimination: where a vertex goes, what it and the tables over it cost at least, for all choices of the vertices
# beside it, takes their place as a table over these. Whatever they choose, the least cost of all stays the same.
@lru_cache(64)
def places(union):  # Of a table over some of a union's vertices, (choices, held) of each: its row per choices of these.
    return reduce(lambda at, u: [k * u[0] + i if u[1] else k for k in at for i in range(u[0])], union, [0])


def eliminated(order, size, own, edges):
    tables, work = {v: {} for v in own}, -(1 << 25) - 1024 * sum(len(flat) for _, _, flat in edges)
    place = {v: at for at, v in enumerate(dict.fromkeys([*order, *own]))}

    def put(scope, flat):  # The last of a scope goes first, and has a row of the table per choices of the others.
        *others, v = scope
        if not others:
            own[v] = list(map(add, own[v], flat))
            return
        rows, old = [flat[k : k + size[v]] for k in range(0, len(flat), size[v])], tables[v].get(tuple(others))
        tables[v][tuple(others)] = [list(map(add, *two)) for two in zip(old, rows, strict=True)] if old else rows

    for u, v, flat in edges:
        if place[u] < place[v]:
            u, v, flat = v, u, [*chain(*(flat[j :: size[v]] for j in range(size[v])))]
        put([u, v], flat)
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
    objective, longest, shape, machine, layers, stores = fields(
        problem, "objective", "longest", "array", "machine", "layers", "stores")  # fmt: skip
    (pes, *_, size, _), overlay = fields(machine, *MACHINE), Overlay(machine, layers, stores)
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

    def widest(rows, most):  # The most columns beside so many rows; it falls with the rows.
        room = brams // banks
        allowed = max(min(rows, room - 3 * rows), (room - rows) // 3 if room >= 4 * rows else 0) if limited else most
        return max(0, min(most // rows, allowed))

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
        for one, layer, (name, flow) in zip(layers, overlay.layers, choices, strict=True):
            need(name in layer["algorithms"] and flow in layer["dataflows"], f"{one['name']} is not computed so")
            pinned.append(one | {"algorithms": [name], "dataflows": [flow]})
        totals = []
        for weights in ((1, 0), (0, 1)):
            own, edges = Overlay(machine, pinned, stores).graph(rows, rows, columns, columns, *weights)
            picked = dict.fromkeys(own, 0) | dict(zip((v for v in own if v >= len(layers)), forms, strict=True))
            need(all(0 <= whole(at) < len(own[v]) for v, at in picked.items()), "no such format", "malformed")
            paid = sum(flat[picked[u] * len(own[v]) + picked[v]] for u, v, flat in edges)
            totals.append(paid + sum(costs[picked[v]] for v, costs in own.items()))
        units, spent = totals
        need(late is None or units <= late, "the selection takes too long")
        values = up(units, unit), rows * columns * per_pe + others, Fraction(spent * units, unit)
        found, value, bound = values[OBJECTIVES.index(objective)], rational(value), rational(bound)
        need(value == found, f"the selection is not worth {value}, but {found}")
        need(bound == value or (0 <= bound < value and status == "bounded"), "the bound is not the value", "malformed")
        # Lower values: a shorter latency on any array, fewer PEs within the longest latency, a smaller product.
        fewer = min(pes, math.ceil((bound - others) / per_pe) - 1)
        reached = ((math.ceil(bound) - 1) * unit + 1, None if late is None else late + 1, bound * unit)
        most, reached = fewer if objective == OBJECTIVES[1] else pes, reached[OBJECTIVES.index(objective)]
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
            least = sum(map(min, own.values())) + sum(min(flat) for _, _, flat in edges)
            if objective == OBJECTIVES[2] or least < reached:
                least = eliminated(order, {v: len(costs) for v, costs in own.items()}, own, edges)
            lines.append((time, energy, least))
        if objective == OBJECTIVES[2]:
            least = min_product(lines)
        need(least >= reached, f"arrays of {low1}..{high1} x {low2}..{high2} may be better than claimed")
    # Lemma Cover: between ends of boxes the same boxes hold so many rows; the columns allowed are most at the first.
    if shape is not None:
        inside = any(one[0] <= shape[0] <= one[1] and one[2] <= shape[1] <= one[3] for one in closed)
        need(inside or shape[1] > (widest(shape[0], most) if shape[0] <= most else 0), "the array is in no box")
        closed, most = [], 0
    for rows in sorted({1, *(one[0] for one in closed), *(one[1] + 1 for one in closed)}):
        reach = 0
        for low1, high1, low2, high2 in sorted(closed, key=lambda one: one[2]):
            if low1 <= rows <= high1 and low2 <= reach + 1:
                reach = max(reach, high2)
        need(rows > most or reach >= widest(rows, most), f"arrays of {rows} rows are in no box")
    return f"{status} {value}, {len(boxes)} boxes of shapes"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
