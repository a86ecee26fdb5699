"""Check proofs of trace partitions [Chang2018]: ``python -I check_trace_partition.py FILE``. It needs no mapper.

Exit code: 0 certified, 1 one refuted, 2 malformed, 3 not certified. The chain over layers is shown by potentials; which
options layers have, their floors and what those cost that floors do not close is recomputed here.
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

KIND = "trace_partition"
TRUSTED = "options and the cost model (docs/snowflake); lemmas Potentials, Port, Lines, Steps, Room, Boxes, Run"


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
UNITS, VMACS, LANES, BLOCK, FIELD, REACH = 4, 4, 16, 64, (1 << 16) - 1, 1 << 17  # docs/snowflake/machine.md
SPLITS, MODES, ORDERS = ("rows", "out_channels"), ("coop", "indp"), ("maps_stationary", "weights_stationary")
DECISIONS = ("mode", "order", "unit_split", "cluster_split", "input_resident", "output_resident")
TILE = ("rows", "columns", "in_channels", "out_channels")
Option = collections.namedtuple("Option", DECISIONS + TILE)
View = collections.namedtuple("View", "tensor offset height width channels pitch")
# A compute object: loops are (turns, growth of the addresses of maps, weights, results, bias, initial values); traces
# are (maps, weights, length). Bias and initial are None where there is none.
Object = collections.namedtuple(
    "Object", "kind maps weights out bias initial wide_initial extent blocks rows columns traces wide"
)
# A transfer: pieces of words, one every local and memory pitch. Groups: those of equal distances, in a loop.
Transfer = collections.namedtuple("Transfer", "target units local tensor memory count words near far value")


def ceil(one, other):
    return -(-one // other)


def lines(address, words):
    return (address % LANES + words + LANES - 1) // LANES


# ---- Tiles: which outputs, which of the map's rows and columns they hold (docs/snowflake/machine.md, How layers run).
Axis = collections.namedtuple("Axis", "size kernel stride dilation pad up step first")
Along = collections.namedtuple("Along", "outputs each held ranges pieces")  # a tile along an axis; ranges:
# (first output, how many, positions of the window from, to, where its first one lies); pieces: (outputs, needed
# positions, of which beyond the beginning, up to, beyond the end, where the first word lies, how many are brought).


class Layer:
    """A layer as the document gives it, and what follows from that alone."""

    def __init__(self, fields):
        self.__dict__.update(fields)
        self.convolution = self.work == "convolution"
        self.height, self.width = self.output.height, self.output.width
        self.group_inputs = self.input.channels // self.groups if self.convolution else 1
        self.group_outputs = self.output.channels // self.groups if self.convolution else self.output.channels
        self.factor = 2 if self.mfm else 1
        self.spread = [(n - 1) * up + 1 for n, up in zip((self.input.height, self.input.width), self.upsample)]
        self.runs = self.dilation[1] == 1 or self.kernel[1] == 1  # a row of the window is one trace

    def axis(self, which, whole):
        size, kernel, stride, up = (one[which] for one in (self.spread, self.kernel, self.stride, self.upsample))
        pad = self.pads[which][0]
        if kernel == 1 and stride > 1 and up == 1 and not whole:  # what stride passes over is not held
            skipped = ceil(pad, stride)
            first = skipped * stride - pad
            return Axis(max(0, ceil(size - first, stride)), 1, 1, 1, skipped, 1, stride, first)
        return Axis(size, kernel, stride, self.dilation[which], pad, up, 1, 0)

    @functools.cached_property
    def windows(self):
        """The distinct spans of the window that lie inside the map, along rows and columns, in their order."""
        if not (self.work == "lane" and self.average == "inside"):
            return [(0, self.kernel[0])], [(0, self.kernel[1])]
        found = []
        for which, outputs in enumerate((self.height, self.width)):
            axis = Axis(self.spread[which], self.kernel[which], self.stride[which], self.dilation[which],
                        self.pads[which][0], 1, 1, 0)
            found.append([*dict.fromkeys(inside(axis, n * axis.stride - axis.pad) for n in range(outputs))])
        return found


def inside(axis, at):
    begin = min(axis.kernel, max(0, ceil(-at, axis.dilation)))
    return begin, max(0, min(axis.kernel, ceil(axis.size - at, axis.dilation)))


def piece(axis, origin, outputs, needed):
    before = min(needed, max(0, -origin))
    after = max(before, min(needed, axis.size - origin))
    held = before + -(origin + before) % axis.up
    return outputs, needed, before, after, needed - after, held, max(0, ceil(after - held, axis.up))


@functools.cache
def along(axis, origin, count, shared):
    span = (axis.kernel - 1) * axis.dilation + 1
    if shared:  # by the four units, each with its padding
        share, pieces = ceil(count, UNITS), []
        for unit in range(UNITS):
            outputs = min(max(count - unit * share, 0), share)
            needed = (outputs - 1) * axis.stride + span if outputs else 0
            pieces.append(piece(axis, origin + unit * share * axis.stride, outputs, needed))
        return Along(count, share, (share - 1) * axis.stride + span, ((0, share, 0, axis.kernel, 0),), (*pieces,))
    low = min(max(origin, 0), axis.size)
    size, ranges = max(low, min(origin + (count - 1) * axis.stride + span, axis.size)) - low, []
    within = origin >= 0 and size == (count - 1) * axis.stride + span
    if within:
        ranges.append((0, count, 0, axis.kernel, 0))
    for output in range(0 if within else count):
        at = origin + output * axis.stride
        begin, end = inside(axis, at)
        if ranges and ranges[-1][2:4] == (begin, end):
            first, often, _, _, held = ranges[-1]
            ranges[-1] = first, often + 1, begin, end, held
        else:
            ranges.append((output, 1, begin, end, at + begin * axis.dilation - low if begin < end else 0))
    return Along(count, count, size, (*ranges,), (piece(axis, low, count, size),))


@functools.cache
def tiles(axis, start, outputs, size, shared):
    """Where the tiles along an axis begin, in outputs and in positions, and the tiles."""
    starts = range(start, start + outputs, size)
    origins = [begin * axis.stride - axis.pad for begin in starts]
    found = [along(axis, origin, min(size, start + outputs - begin), shared) for begin, origin in zip(starts, origins)]
    return starts, origins if shared else [min(max(origin, 0), axis.size) for origin in origins], found


def part(size, parts, which):
    largest = ceil(size, parts)
    first = min(size, which * largest)
    return first, min(largest, size - first)


def copies(target, units, local, tensor, memory, dimensions, words, value=0):
    """Transfers of ``words`` words for every point of ``dimensions``, (times, local and memory distance), outer first:
    the longest that fits the fields makes the pieces."""
    if words == 0 or any(times == 0 for times, _, _ in dimensions):
        return
    dims = [one for one in dimensions if one[0] > 1]
    while dims and dims[-1][1:] == (words, words) and dims[-1][0] * words <= FIELD:
        words *= dims.pop()[0]
    for at in range(len(dims) - 1, 0, -1):
        (times, near, far), (inner, step, further) = dims[at - 1], dims[at]
        if (near, far) == (inner * step, inner * further) and times * inner <= FIELD:
            dims[at - 1 : at + 1] = [(times * inner, step, further)]
    count, near, far = 1, 0, 0
    fit = [number for number, one in enumerate(dims) if max(one) <= FIELD]
    if fit and words <= FIELD:
        count, near, far = dims.pop(max(fit, key=lambda number: dims[number][0]))
    ends = [(local, memory)]
    for times, step, further in dims:
        ends = [(to + turn * step, of + turn * further) for to, of in ends for turn in range(times)]
    for first in range(0, words, FIELD):
        for to, of in ends:
            size = min(FIELD, words - first)
            if target == "fill":
                yield Transfer(target, units, to + first, "", 0, count, size, near, 0, value)
            else:
                yield Transfer(target, units, to + first, tensor, of + first, count, size, near, far, 0)


def grouped(transfers):
    """(first, turns, local and memory distance): four or more transfers of equal distances are a loop."""
    found, start = [], 0
    while start < len(transfers):
        first, turns, near, far = transfers[start], 1, 0, 0
        if start + 1 < len(transfers):
            second = transfers[start + 1]
            near, far = second.local - first.local, 0 if first.target == "fill" else second.memory - first.memory
            if (near or far) and max(abs(near), abs(far)) < REACH:
                while start + turns < len(transfers) and transfers[start + turns] == first._replace(
                    local=first.local + turns * near, memory=first.memory + turns * far
                ):
                    turns += 1
        if turns < 4:
            turns, near, far = 1, 0, 0
        found.append((first, turns, near, far))
        start += turns
    return found


class Weights:
    """A tile's weights: how they lie in a WBuf, and piece after piece in memory."""

    def __init__(self, layer, mode, units, channels, filters):
        high, wide = layer.kernel
        self.mode, self.units, self.filters, self.kernel, self.runs = mode, units, filters, layer.kernel, layer.runs
        self.channels, self.block = channels, VMACS if mode == "coop" else BLOCK
        self.pitch = ceil(channels * (wide if self.runs else 1), LANES) * LANES
        if mode == "coop":
            self.words = self.pitch * high * (1 if self.runs else wide)
        else:
            classes = len(layer.windows[0]) * len(layer.windows[1])
            self.words = LANES * high * wide * (channels if mode == "indp" else classes)
        whole, left = divmod(filters, self.block)
        self.parts = [(whole, VMACS, 0, 0)] if whole else []
        if left:
            vmacs = left if mode == "coop" else ceil(left, LANES)
            self.parts.append((1, vmacs, whole * self.words, whole * VMACS * units * self.words))
        self.memory_words = sum(blocks * vmacs for blocks, vmacs, _, _ in self.parts) * units * self.words
        self.vmac_words = ceil(filters, self.block) * self.words

    def place(self, row, column, window):
        position = row * self.kernel[1] + column
        if self.mode == "indp":
            return LANES * position * self.channels
        if self.mode == "lane":
            return LANES * (window * self.kernel[0] * self.kernel[1] + position)
        return row * self.pitch + column * self.channels if self.runs else position * self.pitch

    def traces(self, top, bottom, left, right, pitches, length, window):
        if bottom <= top or right <= left:
            return ((0, 0, 0),)
        if self.runs and self.mode != "lane":
            width = (right - left) * length
            return tuple(((row - top) * pitches[0], self.place(row, left, 0), width) for row in range(top, bottom))
        return tuple(((row - top) * pitches[0] + (column - left) * pitches[1], self.place(row, column, window), length)
                     for row in range(top, bottom) for column in range(left, right))

    def transfers(self, memory, local):
        size, found = self.words if self.words <= FIELD else FIELD // LANES * LANES, []
        for blocks, vmacs, to, of in self.parts:
            together = vmacs == VMACS and self.words <= FIELD and blocks * VMACS * self.units <= FIELD
            at = memory + of
            for block in range(1 if together else blocks):
                for first in range(0, self.words, size):
                    words, turns = min(size, self.words - first), ("all",)
                    count, near = (vmacs * blocks, self.words) if together else (vmacs, 0)
                    if self.units > 1 and vmacs == VMACS:
                        turns, count = ("deal",), count * UNITS
                    elif self.units > 1:
                        turns = range(UNITS)
                    for units in turns:
                        where = local + to + block * self.words + first
                        found.append(Transfer("wbuf", units, where, "weights", at, count, words, near, words, 0))
                        at += count * words
        return found


# ---- The steps of a layer on a cluster: what they load, compute and store.
class Plan:
    """The steps of one cluster; ``wrong`` says why there are none."""

    def __init__(self, layer, option, sharing, cluster):
        self.layer, self.o = layer, option
        self.by_rows, self.by_channel = option.unit_split == "rows", not layer.convolution
        groups = layer.groups if layer.convolution else 1
        self.row, self.height, self.group, self.groups = 0, layer.height, 0, groups
        self.channel, self.channels = 0, layer.group_outputs
        if option.cluster_split == "rows":
            self.row, self.height = part(layer.height, sharing, cluster)
        elif option.cluster_split == "out_channels" and groups > 1:
            self.group, self.groups = part(groups, sharing, cluster)
        elif option.cluster_split == "out_channels":
            self.channel, self.channels = part(layer.group_outputs, sharing, cluster)
        self.empty = 0 in (self.height, self.groups, self.channels)
        self.down, self.across = layer.axis(0, option.input_resident), layer.axis(1, option.input_resident)
        self.rows = tiles(self.down, self.row, self.height, option.rows, self.by_rows)
        self.columns = tiles(self.across, 0, layer.width, option.columns, False)
        self.outs, self.ins = ceil(self.channels, option.out_channels), ceil(layer.group_inputs, option.in_channels)
        self.spatial = len(self.rows[0]) * len(self.columns[0])
        self.count = 0 if self.empty else self.groups * self.spatial * self.outs * self.ins
        self.maps_tiles = self.groups * self.spatial * (self.outs if self.by_channel else self.ins)
        self.out_tiles = self.groups * self.spatial * self.outs

    def out_channels(self, out):
        return min(self.o.out_channels, self.channels - out * self.o.out_channels)

    def in_channels(self, number):
        return min(self.o.in_channels, self.layer.group_inputs - number * self.o.in_channels)

    def unit_channels(self, out):
        channels = self.out_channels(out)
        if self.by_rows:
            return channels
        return ceil(channels, UNITS * VMACS) * VMACS if self.o.mode == "coop" else ceil(channels, UNITS)

    def filters(self, out):
        return self.unit_channels(out) * self.layer.factor

    def valid(self, out, unit):
        """First channel of a tile, and channels, that a unit computes and that exist."""
        channels, size = self.out_channels(out), self.unit_channels(out)
        if self.by_rows:
            return 0, channels
        first = min(unit * size, channels)
        return first, min(size, channels - first)

    def depth(self, out, number):
        return self.unit_channels(out) if self.by_channel else self.in_channels(number)

    @functools.cached_property
    def _weights(self):
        layer, units, mode = self.layer, 1 if self.by_rows else UNITS, self.o.mode
        if layer.work == "lane":
            return [[Weights(layer, "lane", units, 1, self.filters(out)) for _ in (0, 1)] for out in (0, self.outs - 1)]
        return [[Weights(layer, mode, units, self.in_channels(number), self.filters(out))
                 for number in (0, self.ins - 1)] for out in (0, self.outs - 1)]

    def weights(self, out, number):
        return self._weights[out == self.outs - 1][number == self.ins - 1]

    @functools.cached_property
    def resident_input(self):
        view = self.layer.input
        if self.by_rows:
            return max(tile.held for tile in self.rows[2]), view.width, view.channels
        return view.height, view.width, self.unit_channels(0)

    @functools.cached_property
    def resident_output(self):
        if self.by_rows:
            each = max(tile.each for tile in self.rows[2])
            return each, self.layer.width, self.channels * self.groups
        return self.height, self.layer.width, self.unit_channels(0)

    @functools.cached_property
    def stays_wrong(self):
        """Why maps cannot stay in Buf as the option says."""
        layer, o = self.layer, self.o
        if (o.input_resident or o.output_resident) and o.cluster_split not in (None, o.unit_split):
            return "maps stay where clusters share as units do only"
        if o.input_resident:
            if self.maps_tiles > 1 or layer.upsample != (1, 1):
                return "an input that stays is one tile, not spread"
            pointwise = (layer.kernel, layer.stride, layer.pads) == ((1, 1), (1, 1), ((0, 0), (0, 0)))
            if not (pointwise if self.by_rows else self.by_channel):
                return "units do not hold what they need"
        if o.output_resident and (len(self.rows[0]) if self.by_rows else self.groups * self.outs) > 1:
            return "an output that stays is one tile"
        return ""

    @functools.cached_property
    def wrong(self):
        """Why the option is none of the layer's, whatever the buffers."""
        if self.empty or self.stays_wrong or self.layer.work != "max":
            return "" if self.empty else self.stays_wrong
        ranges = (one for axis in (self.rows, self.columns) for tile in axis[2] for one in tile.ranges)
        return "a maximum is taken over padding alone" if any(one[2] >= one[3] for one in ranges) else ""

    def lies(self, view):
        """What each unit has of a map that stays: first pixel, pixels, first channel, channels."""
        if self.by_rows:
            ends = [min(unit * self.rows[2][0].each, self.height) for unit in range(UNITS + 1)]
            return [((self.row + begin) * view.width, (end - begin) * view.width, 0, view.channels)
                    for begin, end in itertools.pairwise(ends)]
        first = self.group * self.layer.group_outputs + self.channel
        return [(0, view.height * view.width, first, self.unit_channels(0))]

    @functools.cached_property
    def layout(self):
        """First words in Buf of maps, results, residual, bias, partial sums, filters of MFM; in WBuf of weights; words
        that a unit and a vMAC need."""
        layer, o, whole, low, fixed = self.layer, self.o, self.machine.unit_words, 0, 0
        channels, filters = self.unit_channels(0), self.filters(0)
        points = max(tile.each for tile in self.rows[2]) * max(tile.outputs for tile in self.columns[2])
        held = max(tile.held for tile in self.rows[2]) * max(tile.held for tile in self.columns[2])
        stays = [ceil(math.prod(size()), LANES) * LANES if stay else 0 for stay, size in
                 ((o.input_resident, lambda: self.resident_input), (o.output_resident, lambda: self.resident_output))]
        at = [0 if o.input_resident else None, whole - stays[1] if o.output_resident else None]
        if o.output_resident and not o.input_resident:
            at[1] = whole - stays[1]
        for where, words in zip(at, stays):
            fixed, low = fixed + words, max(low, words) if where == 0 else low
        place = low

        def region(words, number):
            nonlocal place
            starts = [place + ceil(words, LANES) * LANES * turn for turn in range(min(number, 2))]
            place += ceil(words, LANES) * LANES * len(starts)
            return starts

        maps = [at[0]] if o.input_resident else region(held * self.depth(0, 0), self.maps_tiles)
        out = [at[1]] if o.output_resident else region(points * channels, self.out_tiles)
        residual = region(points * channels, self.out_tiles if layer.residual else 0)
        partial = region(2 * points * filters, 1 if self.ins > 1 else 0)
        bias = region(filters, self.groups * self.outs if layer.work != "max" else 0)
        temporary = region(points * filters, 1 if layer.mfm else 0)
        tile = 0 if layer.work == "max" else self.weights(0, 0).vmac_words
        weights = [tile * turn for turn in range(min(self.groups * self.outs * self.ins, 2))]
        starts = {"input": maps, "output": out, "residual": residual, "bias": bias, "weights": weights}
        return starts, (partial or [0])[0], (temporary or [0])[0], place - low + fixed, tile * len(weights)

    @functools.cached_property
    def order(self):
        """Every step's tiles: group, row, column, output, summed channels."""
        counts = [self.groups, len(self.rows[0]), len(self.columns[0]), self.outs, self.ins]
        if self.o.order == ORDERS[0]:
            return [*itertools.product(*map(range, counts))]
        group, rows, columns, outs, ins = map(range, counts)
        return [(g, r, c, t, n) for g, t, r, c, n in itertools.product(group, outs, rows, columns, ins)]

    def held(self, operand, step):
        """Which tile of an operand a step works on."""
        group, row, column, out, number = step
        if operand == "weights":
            return group, out, number
        if operand == "bias":
            return group, out
        if operand == "input" and not self.by_channel:
            return group, row, column, number
        return group, row, column, out

    def kind(self, operand, step):
        """What is equal in steps that load, store or compute alike, addresses apart."""
        _, row, column, out, number = step
        pixel = self.rows[2][row], self.columns[2][column]
        last = out == self.outs - 1, number == self.ins - 1
        return {"weights": last, "bias": last[:1], "residual": (*pixel, last[0]), "output": (*pixel, last[0]),
                "input": (*pixel, last[0] if self.by_channel else last[1])}[operand]

    @functools.cached_property
    def classes(self):
        """For every step: its loads (operand, first step of the class, whose addresses stand for it), the first steps
        that compute and store alike (None: stores nothing)."""
        layer, o = self.layer, self.o
        brought = (["weights", "bias"] if layer.work != "max" else []) + ([] if o.input_resident else ["input"])
        brought += ["residual"] if layer.residual else []
        found, self.turn = [[] for _ in self.order], {}
        for operand in ["weights", "bias", "input", "residual", "output"]:
            now, before, turn, first, turns = None, None, -1, {}, []
            for at, step in enumerate(self.order):
                tile, load = self.held(operand, step), False
                if tile != now:
                    turn += 1
                    load = tile != before
                    before, now = now, tile
                turns.append(turn % 2)
                if load and operand in brought:
                    found[at].append((operand, first.setdefault(self.kind(operand, step), at)))
            self.turn[operand] = turns
        first, rows = ({}, {}), []
        for at, (loads, step) in enumerate(zip(found, self.order)):
            kind = self.kind("output", step)
            compute = (*kind, step[4] == self.ins - 1, step[4] > 0, self.offset(step) % LANES)
            stores = step[4] == self.ins - 1 and not o.output_resident
            rows.append(((*loads,), first[0].setdefault(compute, at),
                         first[1].setdefault(kind, at) if stores else None))
        return rows

    def offset(self, step):
        """Where a step's results begin in an output that stays."""
        if not self.o.output_resident:
            return 0
        group, row, column, out, _ = step
        _, width, channels = self.resident_output
        pixel = (0 if self.by_rows else self.rows[0][row] - self.row) * width + self.columns[0][column]
        first = group * self.channels + out * self.o.out_channels
        return pixel * channels + (first if self.by_rows else 0)

    # ---- Transfers.
    def transfers(self, operand, at):
        """What moves an operand of step ``at``."""
        layer, step, starts = self.layer, self.order[at], self.layout[0]
        local = starts[operand][self.turn[operand][at]] if operand != "weights" else None
        if operand == "input":
            return self.brought(step, local)
        if operand in ("residual", "output"):
            return self.results(step, layer.residual if operand == "residual" else layer.output, local)
        group, _, _, out, number = step
        ends, last, units = self.outs - 1, self.ins - 1, 1 if self.by_rows else UNITS
        if operand == "weights":
            words = [last * self.weights(t, 0).memory_words + self.weights(t, last).memory_words for t in (0, ends)]
            memory = group * (ends * words[0] + words[1]) + out * words[0] + number * self.weights(out, 0).memory_words
            return self.weights(out, number).transfers(memory, starts[operand][self.turn[operand][at]])
        filters = self.filters(out)
        memory = units * (group * (ends * self.filters(0) + self.filters(ends)) + out * self.filters(0))
        if self.by_rows:
            return [*copies("buf", "all", local, "bias", memory, (), filters)]
        if filters <= FIELD:
            return [Transfer("buf", "deal", local, "bias", memory, UNITS, filters, 0, filters, 0)]
        return [one for unit in range(UNITS)
                for one in copies("buf", unit, local, "bias", memory + unit * filters, (), filters)]

    def brought(self, step, local):
        layer, o, view, (group, row, column, out, number) = self.layer, self.o, self.layer.input, step
        tile, wide, origin = self.rows[2][row], self.columns[2][column], self.rows[1][row]
        channels, across, found = self.depth(out, number), wide.pieces[0], []
        if self.by_channel:
            first = self.channel + out * o.out_channels
        else:
            first = (self.group + group) * layer.group_inputs + number * o.in_channels
        if self.by_rows:
            parts = [(unit, origin + unit * tile.each * self.down.stride, one, first, channels)
                     for unit, one in enumerate(tile.pieces)]
        elif self.by_channel:
            valid = [self.valid(out, unit) for unit in range(UNITS)]
            parts = [(unit, origin, tile.pieces[0], first + skip, some) for unit, (skip, some) in enumerate(valid)]
        else:
            parts = [("all", origin, tile.pieces[0], first, channels)]
        pitch, value = wide.held * channels, -(1 << 15) if layer.work == "max" else 0
        _, _, _, _, _, left, brought = across
        for units, begin, (_, needed, before, after, trailing, top, count), channel, some in parts:
            fills = [(0, needed)] if max(layer.upsample) > 1 else [(0, before), (after, trailing)]
            for at, rows in fills:
                found += copies("fill", units, local + at * pitch, "", 0, [(rows, pitch, pitch)], pitch, value)
            high, far = (axis.first + at // axis.up * axis.step for axis, at in
                         ((self.down, begin + top), (self.across, self.columns[1][column] + left)))
            memory = view.offset + (high * view.width + far) * view.pitch + channel
            dims = [(count, self.down.up * pitch, self.down.step * view.width * view.pitch),
                    (brought, self.across.up * channels, self.across.step * view.pitch)]
            found += copies("buf", units, local + top * pitch + left * channels, view.tensor, memory, dims, some)
        return found

    def results(self, step, view, local):
        group, row, column, out, _ = step
        tile, width, pitch = self.rows[2][row], self.columns[2][column].outputs, self.unit_channels(out)
        first = (self.group + group) * self.layer.group_outputs + self.channel + out * self.o.out_channels
        found = []
        for unit in range(UNITS):
            top, count = self.rows[0][row], tile.outputs
            if self.by_rows:
                top, count = top + unit * tile.each, tile.pieces[unit][0]
            skipped, some = self.valid(out, unit)
            memory = view.offset + (top * view.width + self.columns[0][column]) * view.pitch + first + skipped
            dims = [(count, width * pitch, view.width * view.pitch), (width, pitch, view.pitch)]
            found += copies("buf", unit, local, view.tensor, memory, dims, some)
        return found

    # ---- Compute objects.
    def objects(self, at):
        """What a unit computes in step ``at``."""
        layer, o, step = self.layer, self.o, self.order[at]
        starts, partial, temporary, _, _ = self.layout
        _, row, column, out, number = step
        tile, wide, last = self.rows[2][row], self.columns[2][column], number == self.ins - 1
        where = {operand: own[self.turn[operand][at] % len(own)] if own else 0 for operand, own in starts.items()}
        channels, width = self.unit_channels(out), wide.outputs
        pitches = width * channels, channels
        if o.output_resident:
            where["output"] += self.offset(step)
            pitches = self.resident_output[1] * self.resident_output[2], self.resident_output[2]
        windows = [(down, across) for down in tile.ranges for across in wide.ranges]
        if layer.work == "max":
            return [self.maximum(where, step, down, across, *block, pitches)
                    for block in blocks(channels, BLOCK) for down, across in windows]
        size = VMACS if layer.convolution and o.mode == "coop" else BLOCK
        found = [self.products(where, step, partial, temporary, down, across, *block, pitches)
                 for block in blocks(self.filters(out), size) for down, across in windows]
        if layer.mfm and last:  # the larger of each channel's two filters
            for first, count, extent in blocks(channels, BLOCK):
                found.append(Object(
                    "max", temporary + first, 0, where["output"] + first, None, None, False, extent,
                    (count, extent, 0, extent, 0, 0), (tile.each, width * 2 * channels, 0, pitches[0], 0, 0),
                    (width, 2 * channels, 0, pitches[1], 0, 0), ((0, 0, extent), (channels, 0, extent)), False))
        return found

    def maps(self, start, step, down, across):
        """Pitches of rows and columns, and where a window begins."""
        _, row, column, out, number = step
        channels, width, top, left = self.depth(out, number), self.columns[2][column].held, down[4], across[4]
        if self.o.input_resident:
            _, width, channels = self.resident_input
            if not self.by_rows:
                top, left = top + self.rows[1][row], left + self.columns[1][column]
        return width * channels, channels, start + (top * width + left) * channels

    def maximum(self, where, step, down, across, first, count, extent, pitches):
        layer, (pitch, apart, maps) = self.layer, self.maps(where["input"], step, down, across)
        steps = pitch * layer.dilation[0], apart * layer.dilation[1]
        traces = tuple((row * steps[0] + column * steps[1], 0, extent)
                       for row in range(down[3] - down[2]) for column in range(across[3] - across[2]))
        out = where["output"] + down[0] * pitches[0] + across[0] * pitches[1] + first
        return Object("max", maps + first, 0, out, None, None, False, extent, (count, extent, 0, extent, 0, 0),
                      (down[1], self.down.stride * pitch, 0, pitches[0], 0, 0),
                      (across[1], self.across.stride * apart, 0, pitches[1], 0, 0), traces or ((0, 0, 0),), False)

    def products(self, where, step, partial, temporary, down, across, first, count, extent, pitches):
        layer, (_, _, column, out, number) = self.layer, step
        pitch, apart, maps = self.maps(where["input"], step, down, across)
        weights, lane, last = self.weights(out, number), layer.work == "lane", number == self.ins - 1
        filters = self.filters(out)
        dense, factor, start = (self.columns[2][column].outputs * filters, filters), 1, where["output"]
        if layer.mfm:
            start, pitches = temporary, dense
        if not last:
            start, pitches, factor = partial, dense, 2
        initial, twice = None, 0
        if number > 0:
            initial, twice = partial, 2
        elif layer.residual:
            initial, twice = where["residual"], 1
        if initial is not None:
            initial += twice * (down[0] * dense[0] + across[0] * dense[1] + first)
        rows, columns = layer.windows
        window = 0
        if layer.average == "inside":
            window = 0 if self.by_rows else rows.index(down[2:4])
            window = window * len(columns) + columns.index(across[2:4])
        traces = weights.traces(*down[2:4], *across[2:4], (pitch * layer.dilation[0], apart * layer.dilation[1]),
                                extent if lane else weights.channels, window)
        return Object(
            "lane" if lane else self.o.mode, maps + (first if lane else 0),
            where["weights"] + first // weights.block * weights.words,
            start + factor * (down[0] * pitches[0] + across[0] * pitches[1] + first), where["bias"] + first, initial,
            number > 0, extent,
            (count, extent if lane else 0, weights.words, factor * extent, extent, twice * extent),
            (down[1], self.down.stride * pitch, 0, factor * pitches[0], 0, twice * dense[0]),
            (across[1], self.across.stride * apart, 0, factor * pitches[1], 0, twice * dense[1]), traces, not last)


def blocks(channels, size):
    whole_, left = divmod(channels, size)
    return [(0, whole_, size)] * (whole_ > 0) + [(whole_ * size, 1, left)] * (left > 0)


# ---- Instructions (docs/snowflake/code.md): how many at which place of a compute object, and what registers hold.
Code = collections.namedtuple("Code", "owned held bias initial traces after static longest")


@functools.cache
def code(o):
    """The instructions of an object's loops, issued in order; addresses count from 0."""
    nest = Nest(o)
    segments = nest.level(0)
    before, after, waiting, ends, slots, changed = {}, [0, 0, 0], 0, None, 0, set()
    for kind, name, number in nest.unrolled([one for segment in segments for one in segment]):
        if kind in ("bias", "initial", "trace"):
            before[kind, number], waiting = waiting, 0
        else:
            waiting += 1
        if kind in ("add", "set"):
            changed.add(name)
        slots -= 1
        if kind == "branch":
            ends, slots = number, 2
        if slots == 0 and ends is not None:  # what comes after the last vector instruction ends the loop's turn
            after[ends] += waiting
            ends, waiting = None, 0
    held = dict.fromkeys([("", o.extent), *(("", length) for _, _, length in o.traces)])
    for name, first in nest.start.items():
        if name not in changed:
            base = nest.ends.get(name, name).split()[0]
            base = base if base in Object._fields else ""
            held[base, first] = None
    traces = tuple(before["trace", number] for number in range(len(o.traces)))
    static = sum(map(len, segments))
    return Code(len(changed), (*held,), before.get(("bias", 0), 0), before.get(("initial", 0), 0), traces, (*after,),
                static, max(map(len, segments)))


class Nest:
    """The loops of an object: blocks, in it rows, in it columns, in it the traces. An instruction is (kind, register,
    number); a segment is an instruction, or a loop with all it holds."""

    def __init__(self, o):
        self.o, self.loops = o, (o.blocks, o.rows, o.columns)
        self.start, self.growth, self.moved, self.ends = {}, {}, {}, {}
        mac, traces = o.kind != "max", o.traces
        distinct = {weights for _, weights, _ in traces}
        if len(traces) > 40 or len(distinct) + len({length for _, _, length in traces}) > 16:
            self.names = ["weights" if len(distinct) > 1 else "weights 0"] * len(traces)
        else:  # a register for each address of weights
            self.names = [f"weights {weights}" for _, weights, _ in traces]
        self.names = self.names if mac else [""] * len(traces)
        self.point("out", 0, 3)
        self.point("maps", traces[0][0], 1)
        for name, (_, weights, _) in zip(self.names, traces):
            if mac and name not in self.start:
                self.point(name, weights, 2)
        if o.bias is not None:
            self.point("bias", 0, 4)
        if o.initial is not None:
            self.point("initial", 0, 5)

    def point(self, name, first, column):
        self.start[name] = first
        self.growth[name] = [loop[column] if loop[0] > 1 else 0 for loop in self.loops]

    def level(self, at):
        if at == 3:
            return self.accumulate()
        body = [[("bias", "", 0)]] if at == 0 and self.o.bias is not None else []
        body += self.level(at + 1)
        turns, growth, moved = self.loops[at][0], self.growth, self.moved
        if turns == 1:
            return body
        growing = [name for name, by in growth.items() if by[at]]
        if not growing:  # a counter
            growing = [f"turn {at}"]
            self.start[growing[0]], growth[growing[0]] = 0, [int(level == at) for level in range(3)]
        compared = min(growing, key=lambda name: sum(map(bool, growth[name][:at])))
        adds = [(name, by[at] - moved.get(name, 0)) for name, by in growth.items() if name != compared]
        adds.append((compared, growth[compared][at] - moved.get(compared, 0)))
        body += [[("add", name, number)] for name, number in adds if number]
        for name, by in growth.items():
            if by[at] or name in moved:
                moved[name] = turns * by[at]
        slots = []  # the two delay slots take the last instructions of the turn
        while len(slots) < 2 and body and len(body[-1]) == 1:
            slots.insert(0, body.pop()[0])
        beyond = sum(number for kind, name, number in slots if (kind, name) == ("add", compared))
        end = f"end {at}"
        self.ends[end], self.start[end] = compared, self.start[compared] + turns * growth[compared][at] - beyond
        growth[end] = [*growth[compared][:at], 0, 0, 0][:3]
        slots += [("nop", "", 0)] * (2 - len(slots))
        return [[*(one for segment in body for one in segment), ("branch", "", at), *slots]]

    def add(self, name, to, found):
        if to != self.moved.get(name, 0):
            found.append([("add", name, to - self.moved.get(name, 0))])
            self.moved[name] = to

    def accumulate(self):
        traces, found, at = self.o.traces, [], 0
        if self.o.initial is not None:
            found.append([("initial", "", 0)])
        while at < len(traces):
            one, other = traces[at], traces[min(at + 1, len(traces) - 1)]
            self.add("maps", one[0] - traces[0][0], found)
            several = self.names[at] == "weights"
            if several:
                self.add("weights", one[1] - traces[0][1], found)
            maps, weights, turns = other[0] - one[0], other[1] - one[1], 1
            if len(traces) > 40 and at:  # runs of equal distance and length, without the last trace, are loops
                while at + turns < len(traces) - 1 and traces[at + turns] == (
                    one[0] + turns * maps, one[1] + turns * weights, one[2]
                ):
                    turns += 1
            if turns < 4:
                found.append([("trace", self.names[at], at)])
                at += 1
                continue
            self.start.setdefault("run", 0)
            self.growth.setdefault("run", [0, 0, 0])
            added = [("add", name, by) for name, by in (("maps", maps), ("weights", weights * several)) if by]
            for _, name, by in added:
                self.moved[name] = self.moved.get(name, 0) + turns * by
            added.append(("add", "run", -1))
            slots = [*added[-2:], ("nop", "", 0), ("nop", "", 0)][:2]
            loop = [("trace", self.names[at], at), *added[:-2], ("branch", "", None), *slots]
            found += [[("set", "run", turns - 1)], loop]
            at += turns
        return found

    def unrolled(self, given):
        """What is issued in one turn of blocks, rows and columns; accumulate loops with all their turns."""
        at = 0
        while at < len(given):
            yield given[at]
            kind, _, number = given[at]
            at += 1
            if kind == "set":
                end = next(place for place in range(at, len(given)) if given[place][0] == "branch") + 3
                for turn in range(number + 1):
                    for kind, name, one in given[at:end]:
                        yield kind, name, one + turn if kind == "trace" else one
                at = end


def bare(o):
    """An object at address 0."""
    return o._replace(maps=0, weights=0, out=0, bias=None if o.bias is None else 0,
                      initial=None if o.initial is None else 0)


NEW, TURN, KEPT = range(3)  # numbers that are new in every step, come back with their buffer, or in every step


def object_need(o):
    found, others = code(bare(o)), []
    for base, offset in found.held:
        value = offset + (getattr(o, base) if base else 0)
        if value:
            others.append((value, TURN if base else KEPT, 1))
    return found.owned, others


def transfer_need(group):
    first, turns, near, far = group
    others = []
    if not near and first.local:
        others.append((first.local, TURN, 1))
    if near and not far:
        others.append((first.local + (turns - 1) * near, TURN, 1))
    if first.target == "fill":
        others.append((first.value % (1 << 16), KEPT, 1))
    elif not far:
        others.append(((first.tensor, first.memory), NEW, 1))
    for number in (first.count << 16 | first.words, *([first.near << 16 | first.far] if first.count > 1 else ())):
        others.append((number, KEPT, 1 if number < REACH else 2))
    return (far != 0) * 2 + (near != 0), others


def register_loads(needs):
    """Instructions that bring numbers into the 30 free registers before each transfer and object of a step."""
    kinds = {number: kind for _, others in needs for number, kind, _ in others}
    count = collections.Counter(kinds.values())
    new, turn, kept = sum(own for own, _ in needs) + count[NEW], count[TURN], count[KEPT]
    loaded = (NEW, TURN, KEPT)
    if new + turn + kept <= 30:
        loaded = (NEW,) if 2 * (new + turn) + kept <= 30 else (NEW, TURN)
    seen, found = set(), []
    for own, others in needs:
        for number, kind, size in others:
            if number not in seen:
                seen.add(number)
                own += size if kind in loaded else 0
        found.append(own)
    return tuple(found)


# ---- Time (docs/snowflake/machine.md, Time).
@functools.cache
def vector_time(objects, loads, queue, latency):
    """Of objects one after another: cycles until the last result, until the last issue, at work, of conflicts."""
    state, total = (0, 0, ()), (0, 0, 0)
    for o, loaded in zip(objects, loads):
        start = tuple((one or 0) % LANES for one in (o.maps, o.weights, o.out, o.bias, o.initial))
        state, sums = VectorUnit(o, queue, latency).loop(0, start, later(state, loaded))
        total = tuple(map(sum, zip(total, sums, (loaded, 0, 0))))
    issued, busy, conflict = total
    return issued + max(0, state[0] + state[1] + latency), issued, busy, conflict


def later(state, cycles):
    """A state of the vector unit, seen so many cycles later: its end and the ends of unfinished instructions, counted
    from the next issue, and between them what has not drained of the last result."""
    end, pending, unfinished = state
    return end - cycles, pending, (*(one - cycles for one in unfinished if one > cycles),)


class VectorUnit:
    """An object on the vector unit, the core and the port of Buf, instruction by instruction."""

    def __init__(self, o, queue, latency):
        self.o, self.code, self.loops = o, code(bare(o)), (o.blocks, o.rows, o.columns)
        self.queue, self.latency = queue, latency
        self.writes, self.loop = o.extent * (2 if o.wide else 1), functools.cache(self.loop)

    def run(self, state, instructions):
        """Instructions: scalar ones before it, lines, of these the port's free ones, lines of results."""
        end, pending, unfinished = state
        issue, busy, conflict, unfinished = 0, 0, 0, [*unfinished]
        for before, moves, free, writes in instructions:
            issue += before
            if moves == 0:
                continue
            if len(unfinished) >= self.queue:
                issue = max(issue, unfinished[-self.queue])
            begin = max(end, issue + 1)
            issue += 1
            pending = max(0, pending - (begin - end) - free)
            end = begin + moves
            busy += moves
            if writes:
                end, conflict, pending = end + pending, conflict + pending, writes
            unfinished.append(end + self.latency)
        return later((end, pending, unfinished[-self.queue :]), issue), (issue, busy, conflict)

    def point(self, at, state):
        """The instructions of one output of each accumulator, at such addresses modulo 16."""
        (maps, weights, out, _, initial), o, found = at, self.o, []
        if o.initial is not None:
            found.append((self.code.initial, lines(initial, o.extent * (2 if o.wide_initial else 1)), 0, 0))
        for number, ((near, far, length), before) in enumerate(zip(o.traces, self.code.traces)):
            moves, free = lines(maps + near, length), 0
            if o.kind == "coop":
                moves = max(moves, lines(weights + far, length))
            elif o.kind == "indp":
                moves, free = length, length - moves
            found.append((before, moves, free, lines(out, self.writes) if number == len(o.traces) - 1 else 0))
        return self.run(state, found)

    def loop(self, level, at, state):
        """All turns of a loop: the state after it; cycles of issue, at work, of conflicts."""
        if level == 3:
            return self.point(at, state)
        (turns, *growth), turn, seen, sums, after = self.loops[level], 0, {}, (0, 0, 0), self.code.after[level]
        while turn < turns:
            if (at, state) in seen:  # equal turns follow from an equal state
                first, then = seen[at, state]
                again = (turns - turn) // (turn - first)
                sums = tuple(now + again * (now - one) for now, one in zip(sums, then))
                turn, seen = turn + again * (turn - first), {}
                continue
            seen[at, state] = turn, sums
            own = (0, 0, 0)
            if level == 0 and self.o.bias is not None:
                state, own = self.run(state, [(self.code.bias, lines(at[3], self.o.extent), 0, 0)])
            state, more = self.loop(level + 1, at, state)
            state, turn = later(state, after), turn + 1
            sums = tuple(map(sum, zip(sums, own, more, (after, 0, 0))))
            at = tuple((one + by) % LANES for one, by in zip(at, growth))
        return state, sums


class Memory:
    """The external memory: until when it works, in parts of a cycle, and how long it still has to for instructions,
    which have the time that data leave, and beside data a 32nd."""

    def __init__(self, scale):
        self.scale, self.free, self.owed = scale, 0, 0

    def idle(self, core):
        now = core * self.scale
        self.owed -= min(self.owed, max(0, now - self.free))
        self.free = max(self.free, now)

    def serve(self, core, work):
        self.idle(core)
        also = min(self.owed, work // 31)
        self.owed -= also
        self.free += work + also
        return ceil(self.free, self.scale)


def run(steps, machine, memory, ahead):
    """A cluster's steps; it yields the time of its core when its turn at the memory is over, and returns it at the end,
    and whether it then has the turn. A step: its code, transfers of loads, times of computation, transfers of its
    store, the buffer of its results; transfers: (instructions before, work) of each, instructions after the last."""
    core = vector = coming = 0
    computing = asked = False
    queue, stored, waiting = [], [0, 0], machine.transfer_queue

    def request(transfers, rest, latency=0):
        nonlocal core, computing, asked
        if computing:
            core, computing = max(core, vector) + 1, False
        for before, work in transfers:
            core += before
            if len(queue) >= waiting:
                core = max(core, queue[-waiting])
            queue.append(memory.serve(core, work) + latency)
            core += 1
        core, asked = core + rest, True
        return queue[-1]

    for at in range(-1, len(steps)):
        following = 0
        if at + 1 < len(steps):  # loads of the next step
            memory.owed += steps[at + 1][0] * machine.instruction
            if steps[at + 1][1]:
                following = request(*steps[at + 1][1], machine.memory_latency) + 1  # 0: nothing to await
        if at >= 0:
            _, _, (cycles, issued, busy, conflict), store, buffer = steps[at]
            if asked:
                asked = False
                yield core
            if coming:
                core = max(core, coming - 1) + 1
            if memory.owed > ahead:
                memory.idle(core)
            if memory.owed > ahead:  # a core comes to code that is not there
                memory.free += memory.owed - ahead
                memory.owed = ahead
                core = max(core, ceil(memory.free, machine.scale))
            if store and stored[buffer]:
                core = max(core, stored[buffer]) + 1
            begin = core
            vector = max(begin + cycles, vector + busy + conflict)
            core, computing = max(begin + issued, vector - (cycles - issued)), True
            if store:
                stored[buffer] = request(*store)
        coming = following
    return max(core, *stored, vector) + 1, asked


def last_of(clusters, machine):
    """Cycles until the last of an accelerator's clusters is done: they have the memory in turns."""
    memory = Memory(machine.scale)
    ahead = len(clusters) * 512 * machine.instruction
    running, done, at = [run(steps, machine, memory, ahead) for steps in clusters], {}, 0
    while len(done) < len(running):
        if at in done:
            memory.idle(done[at])
        else:
            try:
                memory.idle(next(running[at]))
            except StopIteration as end:
                done[at], asked = end.value
                if len(done) == len(running):  # instructions that data have left no time for
                    done[at] = max(done[at], ceil(memory.free + memory.owed, machine.scale))
                elif not asked:
                    memory.idle(done[at])
        at = (at + 1) % len(running)
    return max(done.values())


# ---- What an option costs.
def fits(plans, layer, machine):
    """Whether the machine can hold the steps of these plans."""
    if any(plan.wrong for plan in plans) or plans[0].count > machine.most_steps:
        return False
    for plan in plans:
        if not plan.empty and (plan.layout[3] > machine.unit_words or plan.layout[4] > machine.vmac_words):
            return False
    if math.prod(layer.kernel) <= 128:
        return True
    loops = [code(bare(o)).longest for plan in plans if plan.count
             for at in {compute for _, compute, _ in plan.classes} for o in plan.objects(at)]
    return max(loops, default=0) <= 509  # a loop with all that it holds is in one bank


def cost(layer, option, machine):
    """Cycles, bytes and words of buffers of one accelerator; None if the machine cannot hold the option."""
    plans = [Plan(layer, option, machine.sharing, number) for number in range(machine.sharing)]
    for plan in plans:
        plan.machine = machine
    if not fits(plans, layer, machine):
        return None
    works = [work(plan, machine) for plan in plans]
    times = machine.clusters // machine.sharing
    cycles = last_of([steps for steps, _, _ in works] * times, machine) + (machine.sharing > 1)
    return cycles, times * sum(moved for _, moved, _ in works), times * sum(words for _, _, words in works)


def work(plan, machine):
    """A plan's steps with their times, bytes that it moves, words that it reads and writes in buffers."""
    if not plan.count:
        return [], 4, 0
    kinds, steps, moved, used, instructions, stores = {}, [], 0, 0, 1, 0
    for kind in plan.classes:
        if kind not in kinds:
            kinds[kind] = step_cost(plan, kind, machine)
        length, loads, times, store, crossing, words = kinds[kind]
        steps.append((length, loads, times, store, stores % 2))
        stores, moved, used, instructions = stores + bool(store), moved + crossing, used + words, instructions + length
    return steps, moved + 4 * instructions, used


def step_cost(plan, kind, machine):
    loads, compute, store = kind
    brought = [group for operand, at in loads for group in grouped(plan.transfers(operand, at))]
    sent = [] if store is None else grouped(plan.transfers("output", store))
    objects = plan.objects(compute)
    registers = register_loads([*map(transfer_need, brought), *map(object_need, objects), *map(transfer_need, sent)])
    first, last = len(brought), len(brought) + len(objects)
    aligned = tuple(o._replace(maps=o.maps % LANES, weights=o.weights % LANES, out=o.out % LANES,
                               bias=None if o.bias is None else o.bias % LANES,
                               initial=None if o.initial is None else o.initial % LANES) for o in objects)
    times = vector_time(aligned, registers[first:last], machine.vector_queue, machine.vector_latency)
    length = sum(registers) + sum(4 if turns > 1 else 1 for _, turns, _, _ in brought + sent)
    length += 2 * bool(brought) + 2 * bool(sent) + sum(code(bare(o)).static for o in objects)
    crossing = sum(turns * one.count * one.words * 2 for one, turns, _, _ in brought + sent if one.target != "fill")
    words = sum(map(object_words, objects))
    words += sum(turns * one.count * one.words * (UNITS if one.units == "all" else 1)
                 for one, turns, _, _ in brought + sent)
    return (length, requests(brought, registers[:first], machine), times, requests(sent, registers[last:], machine),
            crossing, words)


def requests(groups, registers, machine):
    """The transfers of a load or store: instructions before each and the memory's work, instructions after the last."""
    found, rest = [], 0
    for (one, turns, _, _), before in zip(groups, registers):
        busy = one.count * lines(one.local, one.words) * machine.scale if one.target == "fill" else (
            machine.byte * one.count * one.words * 2)
        found += [(rest + before, busy), *[(3, busy)] * (turns - 1)]
        rest = 3 if turns > 1 else 0
    return (found, rest) if found else None


def object_words(o):
    """Words that an object reads and writes in the buffers of all units."""
    points, length = o.blocks[0] * o.rows[0] * o.columns[0], sum(one for _, _, one in o.traces)
    words = points * (length * (1 + {"coop": VMACS, "indp": BLOCK, "lane": 1, "max": 0}[o.kind]))
    words += points * o.extent * (2 if o.wide else 1) + (o.blocks[0] * o.extent if o.bias is not None else 0)
    words += points * o.extent * (2 if o.wide_initial else 1) if o.initial is not None else 0
    return UNITS * words


# ---- The options of a layer (docs/formulation/trace-partition.md), and what stays in Buf between two.
class Family:
    """All options of a layer that differ in their tiles alone; ``sizes`` has those of each dimension."""

    def __init__(self, layer, machine, decisions, share):
        self.layer, self.machine, self.decisions, (height, channels) = layer, machine, decisions, share
        _, _, units, _, stays, leaves = decisions
        by_rows, extents_ = units == "rows", (height, layer.width, layer.group_inputs, channels)
        # With sizes below the first the layer has more steps than it may.
        found = [range(ceil(extent, machine.most_steps), extent + 1) for extent in extents_]
        if stays:  # an input that stays is one tile
            found = [own if layer.convolution and at == 3 else own[-1:] for at, own in enumerate(found)]
        if leaves:  # so is an output in what units share
            found = [own[-1:] if at == (0 if by_rows else 3) else own for at, own in enumerate(found)]
        for at, (name, extent) in enumerate(zip(TILE, extents_)):
            pin = layer.pins.get(name)
            if pin is not None and pin not in found[at]:
                found[at] = [pin] if 1 <= pin <= extent and (len(found[at]) > 1 or pin == extent) else []
            elif pin is not None:
                found[at] = [pin]
        self.sizes = found

    def possible(self):
        layer, (_, _, units, _, _, _) = self.layer, self.decisions
        if not all(self.sizes) or (layer.mfm and (layer.groups > 1 or not layer.convolution or layer.residual)):
            return False
        if units == "rows" and len(layer.windows[0]) > 1:
            return False
        return not any(self.decisions[4:]) or not Plan(layer, self.largest, self.machine.sharing, 0).stays_wrong

    @property
    def largest(self):
        return Option(*self.decisions, *(own[-1] for own in self.sizes))


def residencies(layer, machine, before):
    """The layer's families by residency: (whether the input stays, the output, and if any does mode and splits)."""
    sharing, found = machine.sharing, {}
    groups, whole_ = layer.groups if layer.convolution else 1, (layer.height, layer.group_outputs)
    shares = {None: whole_}
    if sharing > 1:
        shares = {"rows": (ceil(layer.height, sharing), layer.group_outputs)}
        if groups == 1:
            shares["out_channels"] = layer.height, ceil(layer.group_outputs, sharing)
        elif groups % sharing == 0:
            shares["out_channels"] = whole_
    for stays, leaves in itertools.product((False, True)[: 1 + before], (False, True)[: 1 + layer.may_stay]):
        for cut, share in shares.items():
            ways = (MODES, ORDERS) if layer.convolution else (MODES[1:], ORDERS[:1])
            for mode, order, units in itertools.product(*ways, SPLITS):
                decisions = mode, order, units, cut, stays, leaves
                if any(layer.pins.get(name, own) != own for name, own in zip(DECISIONS, decisions)):
                    continue
                family = Family(layer, machine, decisions, share)
                if family.possible():
                    found.setdefault(residency(family.largest), []).append(family)
    return found


def residency(option):
    stays = option.input_resident, option.output_resident
    return (*stays, *((option.mode, option.unit_split, option.cluster_split) if any(stays) else (None, None, None)))


def agree(first, one, second, other, sharing):
    """Whether what stays of a layer in one residency is what the next finds in another; options stand for these."""
    if one.output_resident != other.input_resident:
        return False
    if not one.output_resident:
        return True
    for number in range(sharing):
        gives, takes = Plan(first, one, sharing, number), Plan(second, other, sharing, number)
        if one.unit_split != other.unit_split or gives.empty or takes.empty or gives.stays_wrong or takes.stays_wrong:
            return False
        if gives.lies(first.output) != takes.lies(second.input):
            return False
    return True


# ---- Floors. What any run of an option's steps does at least; alignment, fills and most waits are left out.
# Port. All bytes cross the memory one after another. An operand's tiles come in the order of the steps; one is loaded
#   again unless one of two buffers holds it, so that operands of more than two tiles come once for each tile of the
#   loop around them.
# Lines. For each block of 4 filters (COOP) or 64, and each output, a unit's vector unit takes a cycle per line of 16
#   words of a trace (COOP, LANE, MAX) or per word (INDP), and for each partial sum or residual that it reads; in COOP
#   each result takes one more, since the port has no free cycle. It also takes two instructions for each trace but one.
# Steps. The first step computes after its loads, the memory's latency included. Where a step stores, or the step after
#   the next loads, the core awaits the vector unit's last result, and issues transfers and waits (2 and 1 instructions)
#   that nothing hides. The last store crosses after that.
# Room. Buf and WBuf hold two tiles of each operand of several, and partial sums; what stays is held whole.
# Boxes. No floor becomes larger if one of the numbers that it is made of does not. So the floor of the least of each
#   number of several sizes is one of all tiles of these sizes.
# Run. The steps are followed in time as in `run`, for a cluster alone, with the transfers of an operand at once and the
#   fewest cycles and instructions of each step's computation; no core waits for its code. Times are maxima of sums
#   of these numbers and of earlier
#   times, and so is what the memory has yet to do for instructions: less of anything makes no time longer.
@functools.cache
def extents(axis, start, outputs, size, shared):
    """Along an axis: tiles, positions brought, by the first, held, outputs of the last, outputs of a unit whose windows
    have a position, of a tile at the most, of all, positions of windows."""
    found = tiles(axis, start, outputs, size, shared)[2]
    brought = [sum(one[6] for one in tile.pieces) for tile in found]
    taps = sum(many * max(0, end - begin) for tile in found for _, many, begin, end, _ in tile.ranges)
    return (len(found), sum(brought), brought[0], max(tile.held for tile in found), found[-1].outputs,
            sum(many for tile in found for _, many, begin, end, _ in tile.ranges if begin < end),
            max(tile.each for tile in found), sum(tile.each for tile in found), taps)


class Floors:
    """The floors of a family's tiles on one cluster, from what depends on one of their dimensions alone."""

    def __init__(self, family, number):
        self.layer, self.machine = layer, machine = family.layer, family.machine
        self.mode, self.order, units, _, self.stays, self.leaves = family.decisions
        plan = Plan(layer, family.largest, machine.sharing, number)
        self.empty, self.groups, self.height, channels = plan.empty, plan.groups, plan.height, plan.channels
        if self.empty:
            return
        by_rows, self.units = units == "rows", 1 if units == "rows" else UNITS
        self.plan = plan
        full, coop = along(plan.across, -plan.across.pad, layer.width, False), self.mode == "coop"
        depth = layer.group_inputs
        widths = [(many, max(0, end - begin)) for _, many, begin, end, _ in full.ranges]
        self.width = sum(many * width for many, width in widths)
        self.live = sum(many for many, width in widths if width)
        runs = layer.convolution and layer.runs
        self.traces = self.live if runs else self.width
        high_ = along(plan.down, plan.row * plan.down.stride - plan.down.pad, plan.height, by_rows).ranges
        # Tiles whose windows lie on padding alone bring no maps.
        self.empties = self.live < layer.width or any(begin >= end for _, _, begin, end, _ in high_)
        high, wide = layer.kernel

        def words(depth):  # of a filter (COOP), or of 16
            if not coop:
                return LANES * high * wide * depth
            return LANES * high * (ceil(wide * depth, LANES) if runs else wide * ceil(depth, LANES))

        def read(depth):  # lines of a row of the window, over the output columns
            each = ((many, width, 1) if not runs else (many, 1, width) for many, width in widths)
            return sum(many * apart * ceil(together * depth, LANES) for many, apart, together in each)

        def filters(size):
            if by_rows:
                return layer.factor * size
            return layer.factor * (ceil(size, UNITS * VMACS) * VMACS if coop else ceil(size, UNITS))

        def total(of, size, extent):
            return extent // size * of(size) + (of(extent % size) if extent % size else 0)

        block = VMACS if coop else BLOCK

        def inner(size):
            return size, ceil(depth, size), total(words, size, depth), total(read, size, depth), words(size)

        def outer(size):
            size = min(size, channels)
            last = channels - (ceil(channels, size) - 1) * size
            counted = (filters, lambda n: ceil(filters(n), block), lambda n: ceil(filters(n), LANES),
                       lambda n: ceil(2 * filters(n), LANES))
            own = [total(of, size, channels) for of in counted]
            return ceil(channels, size), size, last, filters(size), ceil(filters(size), block), *own

        def row(size):
            found = extents(plan.down, plan.row, plan.height, size, by_rows)
            return *found, 2 * found[-1] * self.traces - found[5] * self.live  # instructions besides those of blocks

        def column(size):
            return extents(plan.across, 0, layer.width, size, False)

        self.numbers = [*map(functools.cache, (row, column, inner, outer))]
        self.lows, self.by_rows = functools.cache(self.lows), by_rows
        self.results, self.channels = plan.height * layer.width * channels * plan.groups, channels

    def lows(self, at, low, high):
        """The least of each number of the sizes from one to another in dimension ``at``."""
        if low == high:
            return self.numbers[at](low)
        middle = math.isqrt(low * high)
        return (*map(min, self.lows(at, low, middle), self.lows(at, middle + 1, high)),)

    def of(self, row, column, inner, outer):
        """Cycles, bytes, words read and written in buffers of a tile; None if it does not fit or has too many steps."""
        layer, machine, groups, stays, leaves = self.layer, self.machine, self.groups, self.stays, self.leaves
        r_count, r_in, r_first, r_held, r_last, r_live, r_most, r_work, taps, net = row
        c_count, c_in, c_first, c_held, c_last, _, c_most, _, _ = column
        depth, ins, weight_words, reads, own_words = inner
        outs, first_out, last_out, first_filters, first_blocks, filters, blocks_, lines_, wides = outer
        spatial, residual = r_count * c_count, layer.residual is not None
        conv, coop = layer.convolution, self.mode == "coop"
        steps = groups * spatial * ins * outs
        if steps > machine.most_steps:
            return None
        out_copies, points = min(groups * spatial * outs, 2), r_most * c_most
        channels = depth if conv else first_filters
        unit = r_held * c_held * channels * min(groups * spatial * (ins if conv else outs), 2)
        own = first_filters // layer.factor
        unit += points * own * out_copies * residual
        if leaves:
            unit += (r_most * self.channels * groups if self.by_rows else self.height * own) * layer.width
        else:
            unit += points * own * out_copies
        unit += points * first_filters * (layer.mfm + 2 * (ins > 1))
        unit += first_filters * min(groups * outs, 2) if layer.work != "max" else 0
        vmac = first_blocks * own_words * min(groups * outs * ins, 2) if conv else 0
        if unit > machine.unit_words or vmac > machine.vmac_words:
            return None
        points, down = r_live * self.live, taps
        maps, weights, first = r_in * c_in * self.channels, 0, r_first * c_first * first_out
        map_loads, weight_loads = spatial * outs, 0
        if conv:
            if self.order == ORDERS[0]:
                again = 1 if ins <= 2 else outs, 1 if outs * ins <= 2 else spatial
            else:
                again = 1 if spatial * ins <= 2 else outs, 1 if ins <= 2 else spatial
            maps = groups * r_in * c_in * layer.group_inputs * again[0]
            weights = groups * (filters if coop else lines_) * self.units * weight_words * again[1]
            map_loads, weight_loads = groups * spatial * ins * again[0], groups * outs * ins * again[1]
            first = r_first * c_first * depth
        if self.empties:
            map_loads = 0
        if stays:
            maps = map_loads = first = 0
        if conv:
            first += self.units * own_words * (first_filters if coop else ceil(first_filters, LANES))
        loading, stores = max(map_loads, weight_loads), 0 if leaves else groups * spatial * outs
        pauses = max(loading - 2, stores, 0)
        issued = blocks_ * net * ins
        if not conv:
            taken = lines_ * down * self.width
        elif coop:
            taken = blocks_ * (down * reads + points * (2 * ins - 1 + residual))
        else:
            taken = blocks_ * down * self.width * layer.group_inputs + points * (wides * (ins - 1) + lines_ * residual)
        cycles = groups * max(issued, taken) + pauses * (2 + machine.vector_latency) + 2 * max(loading - 2, 0) + stores
        cycles += machine.time(2 * first) + (0 if layer.work == "max" and stays else machine.memory_latency)
        cycles += 0 if leaves else machine.time(2 * r_last * c_last * last_out)
        crossing = maps + weights + (0 if leaves else self.results)
        moved = 2 * (crossing + (self.results if residual else 0)) + 4 * (steps + 2 * loading + stores)
        products = down * self.width
        if conv:
            used = blocks_ * products * layer.group_inputs * (1 + (VMACS if coop else BLOCK))
        else:
            used = filters * products * (2 if layer.work == "lane" else 1)
        return cycles, moved, UNITS * groups * (used + filters * r_work * layer.width) + crossing


Facts = collections.namedtuple("Facts", "brought each valid taps ranges widths getters keepers several kept live fresh")


@functools.cache
def facts(tile):
    """Of a tile along an axis: positions brought, outputs of a unit, that count, positions of windows; ranges (outputs,
    positions), these together; units that get maps, that have outputs; outputs in ranges of several; outputs and ranges
    whose windows have a position; units whose maps begin at different places."""
    ranges = (*((many, max(0, end - begin)) for _, many, begin, end, _ in tile.ranges),)
    taps, brought = sum(many * width for many, width in ranges), [one[6] for one in tile.pieces]
    return Facts(sum(brought), tile.each, tile.outputs, taps, ranges, sum(width for _, width in ranges),
                 sum(map(bool, brought)), sum(one[0] > 0 for one in tile.pieces),
                 sum(many for many, _ in ranges if many > 1),
                 sum(many for many, width in ranges if width), sum(width > 0 for _, width in ranges),
                 sum(one[6] > 0 and not one[2] for one in tile.pieces))


class Followed:
    """Lemma Run: the steps of an option on one cluster with what they take at least."""

    def __init__(self, plan, machine):
        self.plan, self.machine, self.layer = plan, machine, plan.layer
        self.coop, self.units = plan.o.mode == "coop" and plan.layer.convolution, 1 if plan.by_rows else UNITS
        self.rows, self.columns = ([*map(facts, own[2])] for own in (plan.rows, plan.columns))
        self.step, self.outs = functools.cache(self.step), functools.cache(self.outs)
        small, layer = machine.unit_words <= FIELD, plan.layer
        # Whether a map's distances fit the fields of transfers, so that there are few.
        self.even = [small and view is not None and view.height * view.width * view.pitch <= FIELD
                     for view in (layer.input, layer.residual, layer.output)]
        self.even[0] = self.even[0] and layer.upsample == (1, 1)

    def outs(self, last):
        """Channels of a tile, of a unit, filters, blocks, units that have any."""
        plan, out = self.plan, self.plan.outs - 1 if last else 0
        size, own, filters = plan.out_channels(out), plan.unit_channels(out), plan.filters(out)
        return size, own, filters, VMACS if self.coop else BLOCK, ceil(size, own)

    def lines_of(self, wide, deep):
        if self.layer.runs:
            return sum(many * ceil(width * deep, LANES) for many, width in wide.ranges)
        return sum(many * width * ceil(deep, LANES) for many, width in wide.ranges)

    def step(self, tile, wide, last_out, last_in, begun):
        """Of a step: cycles, cycles of issue, at work; instructions; words of its results with what their transfers are
        at least and at most; words of weights, bias, maps, residual, each so, with new addresses; addresses of weights
        that are brought into registers if these are too few. ``begun``: results begin from partial
        sums (2), from the residual (1) or from nothing."""
        layer, plan, coop, units = self.layer, self.plan, self.coop, self.units
        size, own, filters, block, holders = self.outs(last_out)
        holders = tile.keepers if plan.by_rows else holders
        number = plan.ins - 1 if last_in else 0
        deep, blocks_, biased = plan.in_channels(number), ceil(filters, block), layer.work != "max"
        points, live, windows = tile.each * wide.each, tile.kept * wide.kept, len(tile.ranges) * len(wide.ranges)
        runs, several = layer.convolution and layer.runs, tile.each * wide.several
        traces = layer.kernel[0] * (1 if runs else layer.kernel[1])
        initial = points * bool(begun)
        adds = 2 + bool(begun) + (runs or traces == 1)
        rows_ = 2 * tile.taps * (wide.kept if runs else wide.taps)
        issued = blocks_ * (rows_ - live + initial + adds * several)
        lines_, ending = ceil(filters, LANES), 0
        if not layer.convolution:
            taken, ending = lines_ * (tile.taps * wide.taps + live), lines_
        elif coop:
            taken, ending = blocks_ * (tile.taps * self.lines_of(wide, deep) + live + initial), 1
        else:
            taken = blocks_ * tile.taps * wide.taps * deep
            taken += initial * (ceil(2 * filters, LANES) if begun == 2 else lines_)
        if biased:
            taken, issued = taken + windows * (blocks_ if coop else lines_), issued + windows * blocks_
        end = max(issued - 5, taken)
        if layer.mfm and last_in:  # the larger of two filters
            more = points * 3 * ceil(own, LANES)
            end, taken = max(end - ending, issued) + more, taken + more
            issued += ceil(own, BLOCK) * (3 + 2 * (wide.each > 1)) * points
            end, ending = max(end, issued - 5), ceil(own, LANES)
        begins = 2 if tile.several + wide.several and tile.taps * wide.taps else 0
        kinds = (filters >= block) + (filters % block > 0)
        length = kinds * windows * (1 + biased) + begins
        if traces <= 40:
            narrow = wide.live if runs else wide.widths
            length = kinds * (2 * tile.widths * narrow + windows * (biased - 1)) + begins
        rows_ = tile.widths if windows == 1 and runs and live == points and tile.widths < 16 else 0
        if filters >= 2 * block:  # blocks one after another change addresses of weights
            begins, length, rows_ = begins + rows_, length + rows_, 0
        first = begins if windows == 1 else 0
        results, sent = tile.valid * wide.valid * size, 0
        pieces = min(tile.valid * (1 if plan.by_rows else holders), holders * wide.valid)
        if last_in and not plan.o.output_resident:
            sent, length = results, length + 2 * holders + 2
        weights = biased and plan.weights(plan.outs - 1 if last_out else 0, number)
        held = 0 if not weights else weights.memory_words
        few = weights and units * filters <= FIELD and weights.words <= FIELD
        getters = tile.getters if plan.by_rows else 1 if layer.convolution else holders
        maps = tile.brought * wide.brought * (deep if layer.convolution else size)
        cuts = min(tile.brought * (1 if plan.by_rows else getters), getters * wide.brought)
        fresh = max(1, tile.fresh * (layer.upsample[0] == 1)) if plan.by_rows else getters
        loads = ((held, 1, 1 + units if few else held, 1), (units * filters, 1, 4, 1),
                 (maps, getters, cuts if self.even[0] else maps, fresh),
                 (results, holders, pieces if self.even[1] else results, holders))
        cycles, addresses = end + first + 1 + self.machine.vector_latency, max(0, rows_ - 1)
        transfers, each = holders, size if plan.by_rows else own
        if each < layer.output.pitch and wide.valid < layer.width:  # rows lie apart, and so do their pixels' channels
            transfers += (holders - 1) * (min(tile.each, wide.valid) - 1)
        store = sent, holders, transfers, pieces if self.even[2] else results
        return cycles, issued + first, taken - ending, length, store, loads, addresses

    def times(self):
        """Cycles and bytes."""
        plan, machine, layer = self.plan, self.machine, self.layer
        brought = [("weights", 0), ("bias", 1)][: 2 * (layer.work != "max")]
        brought += [("input", 2)] * (not plan.o.input_resident) + [("residual", 3)] * (layer.residual is not None)
        core = vector = coming = free = owed = stores = moved = 0
        computing, stored, before, instructions, now = False, [0, 0], None, 1, {}
        scale, byte = machine.scale, machine.byte

        def serve(words, pieces):
            nonlocal free, owed
            work = 2 * words * byte
            owed -= min(owed, max(0, core * scale - free))
            also = min(owed, max(0, (work - 30 * pieces) // 31))
            owed, free = owed - also, max(free, core * scale) + work + also
            return ceil(free, scale)

        for step in [*plan.order, None]:
            following, here = 0, None
            if step is not None:
                _, row, column, out, number = step
                begun = 2 if number else int(layer.residual is not None)
                last = out == plan.outs - 1, number == plan.ins - 1
                here = self.step(self.rows[row], self.columns[column], *last, begun)
                length, loads, new = here[3], [], here[4][1] if here[4][0] else 0
                for operand, at in brought:
                    tile = plan.held(operand, step)
                    last, earlier = now.get(operand, (None, None))
                    if tile != last:
                        now[operand] = tile, last
                        if tile != earlier and here[5][at][0]:
                            loads.append(here[5][at])
                            new += here[5][at][3] if at > 1 else 0
                length += sum(transfers + before for _, transfers, _, before in loads) + 2 * bool(loads)
                if 2 * (new + here[6]) > 30:
                    length, here = length + here[6], (here[0] + here[6], here[1] + here[6], *here[2:])
                instructions, owed = instructions + length, owed + length * machine.instruction
                moved += here[4][0] + sum(one[0] for one in loads)
                if loads:
                    if computing:
                        core, computing = max(core, vector) + 1, False
                    for words, transfers, pieces, before_ in loads:
                        core += 1
                        ready = serve(words, pieces)
                        core += transfers + before_ - 1
                    following = ready + machine.memory_latency + 1
            if before:
                cycles, issued, busy, _, (sent, _, senders, pieces), _, _ = before
                if coming:
                    core = max(core, coming - 1) + 1
                if sent and stored[stores % 2]:
                    core = max(core, stored[stores % 2]) + 1
                vector = max(core + cycles, vector + busy)
                core, computing = core + issued, True
                if sent:
                    core, computing = max(core, vector) + 2, False
                    stored[stores % 2] = serve(sent, pieces)
                    core, stores = core + 2 * senders - 1, stores + 1
            coming, before = following, here
        cycles = max(core + 1, vector + 1, *(one + 1 for one in stored), ceil(free + owed, scale))
        return cycles, 2 * moved + 4 * instructions


def left(family, target):
    """The options of a family whose floors do not show that they cost the target (None: that they do not fit)."""
    machine, layer = family.machine, family.layer
    parts = [one for one in (Floors(family, number) for number in range(machine.sharing)) if not one.empty]
    times = machine.clusters // machine.sharing

    def closes(cycles, moved, used):
        cycles = max(cycles, machine.time(moved))
        return target is not None and machine.value(layer, cycles, moved, used) >= target

    boxes = [[(own[0], own[-1]) for own in family.sizes]]
    while boxes:  # Lemma Boxes: what no floor closes is cut in two, until it is a tile
        box = boxes.pop()
        floors = [one.of(*(one.lows(at, *ends) for at, ends in enumerate(box))) for one in parts]
        if None in floors:
            continue
        moved, used = (times * sum(one[at] for one in floors) for at in (1, 2))
        if closes(max(one[0] for one in floors), moved, used):
            continue
        at = max(range(4), key=lambda at: box[at][1] / box[at][0])
        low, high = box[at]
        if low < high:
            middle = math.isqrt(low * high)
            boxes += [[*box[:at], ends, *box[at + 1 :]] for ends in ((middle + 1, high), (low, middle))]
            continue
        option = Option(*family.decisions, *(low for low, _ in box))
        if target is not None:
            plans = [Plan(layer, option, machine.sharing, number) for number in range(machine.sharing)]
            found = [Followed(plan, machine).times() for plan in plans if not plan.empty]
            moved = max(moved, times * sum(more for _, more in found))
            if closes(max(cycles for cycles, _ in found), moved, used):
                continue
        yield option


# ---- The chain.
# Potentials. Each layer takes one residency, and of two layers in a row these agree. Let a number stand at each
#   residency. If an option of a residency costs no less than its number less the least number of a residency before
#   that agrees (0 before the first layer), then a chain costs no less than the number at its end, by induction along
#   it. A residency may have no number only if none that agrees before it has one, or the machine can hold no option.
COUNT, VIEW = range(1, 1 << 32), dict.fromkeys(View._fields, range(1 << 32))
SPLIT, FLAG, PAIR = (*SPLITS, None), (True, False), [range(1 << 16), 2, 2]
NUMBERS = ("clusters", "sharing", "unit_words", "vmac_words", "byte", "scale", "vector_queue", "transfer_queue")
MACHINE = dict.fromkeys(NUMBERS, COUNT) | dict.fromkeys(("memory_latency", "vector_latency"), range(1 << 32))
MACHINE |= {"energy": [range(1 << 200), 4, 4], "per_pj": range(1, 1 << 200)}
LAYER = {
    "name": str, "work": ("convolution", "lane", "max"), "input": VIEW, "output": VIEW, "residual": (None, VIEW),
    "kernel": PAIR, "stride": PAIR, "dilation": PAIR, "upsample": PAIR, "pads": [PAIR, 2, 2], "groups": COUNT,
    "mfm": FLAG, "average": ("all", "inside", None), "macs": range(1 << 62), "may_stay": FLAG, "pins": dict,
}  # fmt: skip
OPTION = {"mode": MODES, "order": ORDERS, "unit_split": SPLITS, "cluster_split": SPLIT, "input_resident": FLAG}
OPTION |= {"output_resident": FLAG} | dict.fromkeys(TILE, COUNT)
RESIDENCY = [FLAG, FLAG, (*MODES, None), SPLIT, SPLIT, range(-1 << 210, 1 << 210)]
OBJECTIVES = {"latency": "cycles", "traffic": "bytes", "energy": "pJ"}


def read(value, shape):
    """A value of a shape: choices (an inner shape last), a range, [of the entries, least length, most], {of fields}."""
    if shape is dict:
        need(type(value) is dict and set(value) <= set(OPTION), "pins decisions", "malformed")
        return {name: read(one, OPTION[name]) for name, one in value.items()}
    if type(shape) is dict:
        return {name: read(one, shape[name]) for name, one in zip(shape, fields(value, *shape))}
    if type(shape) is list:
        need(type(value) is list and shape[1] <= len(value) <= shape[2], "a list has a wrong length", "malformed")
        return tuple(read(one, shape[0]) for one in value)
    if type(shape) is range:
        return whole(value, shape.start, shape.stop)
    if shape is str:
        need(type(value) is str, "needs a text", "malformed")
    elif type(shape[-1]) is dict:
        return None if value is None else read(value, shape[-1])
    else:
        need(any(type(value) is type(one) and value == one for one in shape), f"needs one of {shape}", "malformed")
    return value


class Machine:
    """The machine, and what is to be least."""

    def __init__(self, given, objective):
        self.__dict__.update(given)
        self.objective, self.instruction, self.most_steps = objective, 4 * self.byte, 1 << 14
        need(self.clusters <= 8 and self.clusters % self.sharing == 0, "has other clusters", "malformed")

    def time(self, moved):
        return moved * self.byte // self.scale

    def value(self, layer, cycles, moved, used):
        """The objective in whole numbers, energy in parts of a pJ."""
        if self.objective != "energy":
            return cycles if self.objective == "latency" else moved
        mac, word, byte, cycle = self.energy
        images = self.clusters // self.sharing
        return mac * layer.macs * images + word * used + byte * moved + cycle * cycles * self.clusters


def layers_of(given):
    """The layers, without names and, where no two of its maps are one tensor, without places in memory: layers that
    are then equal are the same problem."""
    need(type(given) is list and 0 < len(given) <= 10000, "has no layers or too many", "malformed")
    found, seen = [], {}
    for one in given:
        layer = read(one, LAYER)
        name, views = layer.pop("name"), [layer[name] for name in ("input", "output", "residual") if layer[name]]
        tensors = [*dict.fromkeys(view["tensor"] for view in views)]
        for view in views:
            view["tensor"] = tensors.index(view["tensor"])
            view["offset"] = view["offset"] if len(tensors) < len(views) else 0
            words = view["height"] * view["width"] * view["channels"]
            need(0 < words <= 1 << 32, "a map has no words or too many", "malformed")
        text = json.dumps(layer, sort_keys=True)
        positive = *layer["kernel"], *layer["stride"], *layer["dilation"], *layer["upsample"]
        need(min(positive) > 0 and math.prod(layer["kernel"]) <= 1 << 16, "a window is empty or huge", "malformed")
        need(layer["average"] is None or layer["work"] == "lane", "an average has another work", "malformed")
        depth = [layer[name]["channels"] % layer["groups"] for name in ("input", "output")]
        need(not any(depth) or layer["work"] != "convolution", "groups do not divide channels", "malformed")
        layer |= {name: layer[name] and View(**layer[name]) for name in ("input", "output", "residual")}
        found.append(seen.setdefault(text, Layer(layer)))
        found[-1].name = getattr(found[-1], "name", name)
    return found


def paid_by(machine, layers, ways, path, agreed):
    """What a partition costs whose options the machine can hold and whose residencies agree."""
    need(type(path) is list and len(path) == len(layers), "the partition has other layers", "malformed")
    total, options = 0, [Option(**read(one, OPTION)) for one in path]
    for at, (layer, option) in enumerate(zip(layers, options)):
        families = ways[at].get(residency(option), [])
        family = next((one for one in families if one.decisions == option[:6]), None)
        need(family is not None, f"{layer.name}: there is no such option")
        need(all(size <= own[-1] for size, own in zip(option[6:], family.sizes)), f"{layer.name}: a tile is too large")
        need(all(getattr(option, name) == pin for name, pin in layer.pins.items()), f"{layer.name}: a pin is not kept")
        if at:
            fit = agreed(at, residency(options[at - 1]), residency(option))
            need(fit, f"{layer.name}: its residency is not that of the layer before")
        paid = cost(layer, option, machine)
        need(paid is not None, f"{layer.name}: the machine cannot hold its option")
        total += machine.value(layer, *paid)
    return total


def targets(ways, potentials, agreed):
    """Lemma Potentials: for every layer and residency what its options must cost at least (None: none may fit; left
    out: nothing is asked), and the least number at an end."""
    found, before, alive = [], {None: 0}, [{*ways[-1]}]
    for at in range(len(ways) - 1, 0, -1):  # those that a chain can go on from
        alive.append({one for one in ways[at - 1] if any(agreed(at, one, other) for other in alive[-1])})
    for at, own in enumerate(reversed(alive)):
        numbers = {one[:5]: one[5] for one in potentials[at]}
        need(len(numbers) == len(potentials[at]) and set(numbers) <= set(ways[at]), "a potential is of no residency")
        asked = {}
        for one in own:
            reached = [paid for other, paid in before.items() if other is None or agreed(at, other, one)]
            if reached:
                asked[one] = None if one not in numbers else numbers[one] - min(reached)
        found.append(asked)
        before = {one: paid for one, paid in numbers.items() if one in asked}
    return found, min(before.values(), default=None)


def closed(machine, layers, ways, asked):
    """Close every option of every layer; how many floors did, and how many costs were recomputed."""
    wanted = {}
    for layer, own, targets_ in zip(layers, ways, asked):
        for one, target in targets_.items():
            most, families = wanted.get((layer, one), (target, None))
            wanted[layer, one] = None if None in (most, target) else max(most, target), own[one]
    exact, sizes_ = 0, [family.sizes for _, families in wanted.values() for family in families]
    count = sum(math.prod(map(len, one)) for one in sizes_)
    for (layer, _), (target, families) in wanted.items():
        for family in families:
            for option in left(family, target):
                paid, exact = cost(layer, option, machine), exact + 1
                need(paid is None or (target is not None and machine.value(layer, *paid) >= target),
                     f"{layer.name}: an option costs less: {tuple(option)}")
    return count - exact, exact


# Host. The program stops at each call of the host, whatever the partition: a constant that every chain pays besides.
def host_part(given, machine):
    """What the host adds to every partition: its operators one after another for the images of all accelerators, while
    all clusters wait; energy is that of one accelerator's images and clusters."""
    calls, images, each, clock, speeds, energy = fields(
        given, "calls", "images", "each", "clock_hz", "speeds", "energy"
    )
    images, each, clock = (whole(one, 1) for one in (images, each, clock))
    need(len(speeds) == len(energy) == 2 and type(calls) is list, "the host is no host", "malformed")
    speeds, energy = [rational(one) for one in speeds], [whole(one, 0, 1 << 200) for one in energy]
    need(min(speeds) > 0, "the host has no speed", "malformed")
    calls = [[whole(one) for one in call] for call in calls]
    need({*map(len, calls)} <= {2}, "a call has elements and products", "malformed")
    seconds = [sum(count / speed for count, speed in zip(call, speeds)) for call in calls]
    cycles = sum(-(-images * clock * one // 1) for one in seconds)
    if machine.objective != "energy":
        return cycles if machine.objective == "latency" else 0
    spent = sum(count * price for call in calls for count, price in zip(call, energy))
    return each * spent + machine.energy[3] * cycles * machine.clusters


def check(problem, claim, evidence):
    objective, sense, unit, given, layers, host = fields(
        problem, "objective", "sense", "unit", "machine", "layers", "host"
    )
    need((sense, unit) == ("least", OBJECTIVES[objective]), "has another sense or unit", "malformed")
    machine, layers = Machine(read(given, MACHINE), objective), layers_of(layers)
    hosted = host_part(host, machine)
    rule, path, potentials = fields(evidence, "rule", "path", "potentials")
    need(rule == "chain" and len(potentials) == len(layers), "needs the rule chain", "malformed")
    lists = [potentials, *potentials, *(one for own in potentials for one in own)]
    need({*map(type, lists)} == {list}, "needs lists of potentials", "malformed")
    need(all(len(one) == len(RESIDENCY) for own in potentials for one in own), "needs residencies", "malformed")
    potentials = [[tuple(map(read, one, RESIDENCY)) for one in own] for own in potentials]
    befores = [False, *(layer.may_stay for layer in layers)]
    ways = [residencies(layer, machine, before) for layer, before in zip(layers, befores)]

    @functools.cache
    def agreed(at, one, other):
        ends = ways[at - 1][one][0].largest, ways[at][other][0].largest
        return agree(layers[at - 1], ends[0], layers[at], ends[1], machine.sharing)

    asked, least = targets(ways, potentials, agreed)
    status, value, bound = (claim[name] for name in ("status", "value", "bound"))
    if status == "infeasible":
        need(path is value is bound is None, "what is infeasible has no value", "malformed")
        need(least is None, "a chain of residencies is left")
        said = status
    else:
        parts = machine.per_pj if objective == "energy" else 1
        value, bound = rational(value), rational(bound)
        paid = paid_by(machine, layers, ways, path, agreed) + hosted
        need(value * parts == paid, "the partition has another value")
        need(bound <= value and (status == "bounded" or bound == value), "value and bound are not as claimed")
        need(least is not None and least + hosted >= bound * parts, "a chain may cost less")
        said = f"{status} {value} {unit}" + (f", bound {bound}" if status == "bounded" else "")
    by_floor, exact = closed(machine, layers, ways, asked)
    return f"{said}: a chain of {len(layers)} layers; {by_floor} options closed by floors, {exact} costs recomputed"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
