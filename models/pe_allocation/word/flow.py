"""What one iteration of a layer's loops does in a PE: operations and when they are issued, software-pipelined.

An iteration begins in every cycle. Its operations follow one another as soon as operands can be read, while later
iterations have begun; none waits, so that every value is used in the cycle in which it can first be read and a data
register for each operation is enough. Unit d > 1 begins d - 1 additions later, when the sum before it is there; its
words wait in the input register. Sums of a position go through a feedback FIFO from one n to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mapper.models.pe_allocation.configuration.address import Affine
from mapper.models.pe_allocation.configuration.layer_data import LayerData
from mapper.models.pe_allocation.configuration.program import LayerProgram, PeProgram
from mapper.models.pe_allocation.word.operation import Fifo, Name, Operation, Port, Register
from mapper.models.pe_allocation.word.register_file import Finish, Following, RegisterFile, Timed, divided
from mapper.models.pe_allocation.word.result import following, least_of, rounding, word_range


@dataclass(frozen=True)
class Step:
    """An iteration as the loop controller tells it: ``first`` and ``last`` of a sum, ``slots`` of its units at work,
    and the number of the filter ``m`` among those of the PE."""

    first: bool
    last: bool
    slots: int
    m: int


@dataclass(frozen=True)
class Flow:
    """``issue``: the operations of a step; ``final``: cycles from its begin to its result. A sum can be added to every
    ``again`` cycles."""

    issue: Callable[[Step], list[Timed]]
    final: int
    again: int


def own_filters(program: PeProgram) -> tuple[int, ...]:
    """The filters (maps) of a PE, in the order in which it computes them."""
    m = program.loops[3]
    return tuple(number for number in range(m.first, m.first + m.step * m.count, m.step) if number < m.limit)


def slot_steps(layer: LayerProgram, program: PeProgram, slot: int) -> int:
    """How many n a unit has."""
    n = program.loops[2]
    return len(range(slot, n.limit, layer.delta))


def convolution(layer: LayerProgram, program: PeProgram, data: LayerData, file: RegisterFile) -> Flow:
    """Products of all units are added one after another, then to the sum of the filter, which begins with its bias and
    half of what the shift cuts off."""
    own, width = own_filters(program), min(layer.depth, layer.delta)
    weights, pixels = _convolution_inputs(layer, program, own, width, file)
    products = [file.data() for _ in range(width)]
    sums = [products[0], *(file.data() for _ in range(width - 1))]
    held = [file.data() for _ in range(width)] if _reuses(layer, own, file) else []
    rounded = not layer.arithmetic.scaled
    bias = tuple(int(data.bias[m]) + (rounding(layer) if rounded else 0) for m in own)
    single = program.work == program.loops[3].count
    start = file.fifo(Fifo(len(own), True, bias))
    total = None if single else file.fifo(Fifo(len(own)))
    words = -word_range(layer)[0]
    largest = words * words * layer.depth * layer.kernel[0] * layer.kernel[1] + max(map(abs, bias))
    steps = following(layer, own, data, file, (-largest, largest), rounded)
    finish = Finish(file, steps, file.output(own))
    zero = file.constant(0) if layer.depth % width else None
    product, add, move = file.after("mul"), file.after("add"), file.after("mov")
    joined = product + (width - 1) * add
    direct = min(move, len(own))

    def issue(step: Step) -> list[Timed]:
        found: list[Timed] = []
        for slot in range(step.slots):
            at, pixel = max(0, slot - 1) * add, pixels[slot]
            if held and step.m >= direct:
                pixel = held[slot]
            elif held and step.m + 1 < direct:
                pixel = Register("IK", pixel.number)
            found.append((at, Operation("mul", products[slot], weights[slot], pixel)))
            if held and step.m == 0:
                found.append((at, Operation("mov", held[slot], pixel, pixel)))
        for slot in range(1, width):
            other = products[slot] if slot < step.slots else zero
            assert other is not None
            at = product + (slot - 1) * add
            found.append((at, Operation("add", sums[slot], sums[slot - 1], other)))
        before = start if step.first else total
        to = finish.entry if step.last else total
        assert before is not None and to is not None
        found.append((joined, Operation("add", to, before, sums[-1])))
        return found + (finish.operations(joined + add) if step.last else [])

    return Flow(issue, joined + add + finish.cycles, add)


def _reuses(layer: LayerProgram, own: tuple[int, ...], file: RegisterFile) -> bool:
    """Whether a pixel goes to several filters, so that it is worth a register."""
    return layer.filters == layer.group_filters and len(own) > file.after("mov")


def _convolution_inputs(
    layer: LayerProgram, program: PeProgram, own: tuple[int, ...], width: int, file: RegisterFile
) -> tuple[list[Register], list[Register]]:
    all_weights = program.weights
    assert all_weights is not None
    high, wide = layer.kernel
    row, tap = wide * layer.channels, layer.channels
    weights, pixels = [], []
    for slot in range(width):
        steps, ahead = slot_steps(layer, program, slot), max(0, slot - 1) * file.after("add")
        own_weights = Affine(
            all_weights.loops[:4],
            (high, wide, steps, len(own)),
            all_weights.strides[:4],
            all_weights.base + slot * all_weights.strides[4],
        )
        weights.append(file.input(Port("weights", own_weights, ahead)))
        loops, counts, strides = ("k1", "k2", "n"), (high, wide, steps), (row, tap, layer.delta)
        maps = Affine(loops, counts, strides, slot)
        offsets: tuple[int, ...] = ()
        if not _reuses(layer, own, file):
            # Maps of the filter's group.
            offsets = tuple(m // layer.group_filters * layer.depth for m in own)
            maps = Affine((*loops, "m"), (*counts, len(own)), (*strides, 0), slot)
        pixels.append(file.input(Port("pixels", maps, ahead, offsets if any(offsets) else ())))
    return weights, pixels


def pool(layer: LayerProgram, program: PeProgram, data: LayerData, file: RegisterFile) -> Flow:
    """Every unit has maps of its own, whose largest pixels or sums go through a feedback FIFO of the unit."""
    taps, maps = layer.kernel[0] * layer.kernel[1], layer.maps
    name: Name = "max" if layer.rule == "max" else "add"
    is_average = layer.rule == "average"
    begin = _begin(layer) if is_average else word_range(layer)[0]
    plain = not (layer.arithmetic.scaled or layer.shift)
    if name == "max" and plain:
        begin = max(begin, least_of(layer))
    within = (begin if name == "max" else _average_least(layer), -_average_least(layer) - 1)
    empty = file.constant(begin)
    row, tap = layer.kernel[1] * layer.channels, layer.channels
    slots = []
    for slot in range(min(layer.delta, maps)):
        own = tuple(range(slot, maps, layer.delta))
        addresses = Affine(("k1", "k2", "n"), (*layer.kernel, len(own)), (row, tap, layer.delta), slot)
        total = file.fifo(Fifo(len(own))) if taps > 1 else None
        pixel = file.input(Port("pixels", addresses))
        quotient = _average(layer, len(own), file) if is_average else []
        steps = [*quotient, *following(layer, own, data, file, within)]
        slots.append((pixel, total, Finish(file, steps, file.output(own))))
    after = file.after(name)

    def issue(step: Step) -> list[Timed]:
        found: list[Timed] = []
        for pixel, total, finish in slots[: step.slots]:
            before, to = empty if step.first else total, finish.entry if step.last else total
            assert before is not None and to is not None
            found.append((0, Operation(name, to, before, pixel)))
            found += finish.operations(after) if step.last else []
        return found

    return Flow(issue, after + slots[0][2].cycles, after)


def _average_least(layer: LayerProgram) -> int:
    """The least number that a pool makes; the largest is one less in size."""
    return word_range(layer)[0] << (layer.arithmetic.lifts or (0,))[0]


def _begin(layer: LayerProgram) -> int:
    """Where the sum of an average begins: at what is added before the division, where it is the same everywhere."""
    return 0 if any(layer.arithmetic.lifts) or _leaves_image(layer) else _more(layer, _taps(layer))


def _more(layer: LayerProgram, divisor: int) -> int:
    """What is added before a division: half of the divisor, and so much that no sum is negative."""
    return divisor // 2 - _average_least(layer) * divisor


def _taps(layer: LayerProgram) -> int:
    return layer.kernel[0] * layer.kernel[1]


def _average(layer: LayerProgram, maps: int, file: RegisterFile) -> list[Following]:
    """From a sum to the average. Where each position has a divisor of its own, what is added and the factor come from
    an input, for every position and all of the unit's ``maps``."""
    least, lift = -_average_least(layer), (layer.arithmetic.lifts or (0,))[0]
    largest = 2 * least * _taps(layer)
    file.holds(largest)
    steps: list[Following] = [("asl", file.constant(lift))] if lift else []
    if not _leaves_image(layer):
        more: list[Following] = [("add", file.constant(_more(layer, _taps(layer))))] if lift else []
        return [*steps, *more, *divided(file, _taps(layer), largest), ("sub", file.constant(least))]
    # A shift at which the factors of all divisors are exact (``divided``).
    shift = (largest * _taps(layer)).bit_length()
    divisors = _inside(layer)
    factors = tuple(-(-(1 << shift) // one) for one in divisors)
    file.holds(2 * least * max(one * factor for one, factor in zip(divisors, factors, strict=True)))
    again = Affine(("n",), (maps,), (0,))
    added = Port("positions", again, values=tuple(_more(layer, one) for one in divisors))
    return [
        *steps,
        ("add", file.input(added)),
        ("mul", file.input(Port("positions", again, values=factors))),
        ("asr", file.constant(shift)),
        ("sub", file.constant(least)),
    ]


def _leaves_image(layer: LayerProgram) -> bool:
    """Whether an average has positions with fewer pixels inside the image, and divides by their number."""
    return layer.arithmetic.inside and min(_inside(layer)) < _taps(layer)


def _inside(layer: LayerProgram) -> tuple[int, ...]:
    """How many pixels of each position's window lie inside the image, one at the least."""
    rows, columns = (
        [
            sum(
                0
                <= at * layer.strides[axis] - layer.pads[axis] + tap * layer.dilations[axis]
                < layer.size[axis]
                for tap in range(layer.kernel[axis])
            )
            for at in range(layer.output_size[axis])
        ]
        for axis in (0, 1)
    )
    return tuple(max(1, high * wide) for high in rows for wide in columns)
