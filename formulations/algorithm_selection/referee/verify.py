"""The referee of algorithm selections: checks every rule of a problem by itself [Meng2021, secs. 3 to 5].

It shares no code with the cost graph or the searches. Cost comes from the model.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.verdict import BrokenRule, Verdict
from mapper.models.algorithm_selection.cost import SelectionCost, evaluate
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.overlay.layer import OverlayLayer
from mapper.models.algorithm_selection.resource import most_banks

SHAPE = "the array has at most the PEs and block memories there are"
FED = "DRAM reads and writes a word a lane in every cycle"
BOARD = "the board has what the overlay takes"
PINNED = "pinned decisions are kept"
COMPUTED = "every layer has an algorithm that can compute it"
PARTS = (
    "kernels come in the parts that fit, or twice, four times ... as many where the input stays in its buffer"
)
STORED = "every tensor is stored in the layout of one of its readers"
READ = "a tensor with one reader is stored in that reader's layout"
LYING = "what lies channel by channel is read and made in whole rows of positions, without transforms"
KEPT = "what stays on the chip fits: maps and kernels of two consecutive layers"
STAYS = "a map that stays on the chip goes to the next layer alone, and fits beside the map that is read meanwhile"
PACE = "an inference takes no longer than asked for"

WINOGRAD_SIDE = {"winograd": (2, 4), "winograd-4x4": (4, 6)}
"""Sides of output and input tiles."""
COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64)
"""Numbers of pieces of a layer."""


def verify(problem: SelectionProblem, selection: Selection) -> Verdict[SelectionCost]:
    """Check ``selection`` against every rule of ``problem`` and have the model recompute its cost.

    Sizes are in PEs, block memories, bytes, bytes per second, cycles or numbers of decisions beyond the limit.
    """
    unreadable = (*_computed(problem, selection), *_stored(problem, selection))
    if unreadable:
        return Verdict(unreadable, None)
    cost = evaluate(problem.network, selection)
    found = (
        *_shape(problem, selection),
        *_board(problem, cost),
        *_pinned(problem, selection),
        *(_stays(problem, selection) if problem.machine.engines is not None else _kept(problem, selection)),
        *_pace(problem, cost),
    )
    return Verdict(found, cost)


def _computed(problem: SelectionProblem, selection: Selection) -> Iterator[BrokenRule]:
    network = problem.network
    if len(selection.choices) != len(network.layers):
        yield BrokenRule(COMPUTED, "choice", abs(len(selection.choices) - len(network.layers)))
        return
    for layer, choice in zip(network.layers, selection.choices, strict=True):
        if not _suits(problem, layer, choice.algorithm):
            yield BrokenRule(COMPUTED, layer.name, 1)
        elif choice.parts != 1 and choice.parts not in _parts(problem, layer, choice.algorithm):
            yield BrokenRule(PARTS, layer.name, choice.parts)


def _suits(problem: SelectionProblem, layer: OverlayLayer, algorithm: str) -> bool:
    if not _buffered(problem, layer, algorithm):
        return False
    if algorithm == "im2col":
        return True
    if algorithm == "kn2row":
        patch = -(-layer.map[1] // layer.strides[1])
        return layer.kernel != (1, 1) and (problem.machine.engines is None or patch >= layer.output[1])
    rule = problem.machine.winograd
    present = rule.f_2_3 if algorithm == "winograd" else rule.f_4_3
    high, wide = layer.kernel
    slides = all(step <= rule.largest_stride for step in layer.strides) and set(layer.dilations) == {1}
    sized = layer.kernel != (1, 1) and max(high, wide) >= rule.smallest_kernel
    return present and slides and sized and (high == wide or rule.kernels == "any")


def _buffered(problem: SelectionProblem, layer: OverlayLayer, algorithm: str) -> bool:
    """Whether the least piece of a layer fits the buffers, with as many banks as DRAM and the board can feed."""
    engines = problem.machine.engines
    room = None if engines is None else engines.buffers
    if room is None:
        return True
    banks, bands = most_banks(problem.machine), _bands(layer, algorithm)
    pieces = max((count for count in COUNTS if count <= bands and _pooled(layer, count)), default=0)
    if not pieces:
        return False
    taken, depth, positions, kernel = _piece(layer, algorithm, -(-bands // pieces))
    maps = layer.out_channels
    across_maps, held, half = (
        -(-maps // banks),
        *(max(1, one // (2 * banks)) for one in (room.kernel, room.input)),
    )
    if kernel > held:
        if not _deep(layer, algorithm, kernel, held):
            return False
        taken, depth, positions, _ = _piece(layer, algorithm, bands)
        maps = -(-maps // across_maps)
    elif across_maps * kernel > held:
        maps = -(-maps // -(-across_maps // (held // kernel)))
    lines, sums = taken * -(-depth // banks), positions * -(-maps // banks)
    return lines <= half and sums <= room.result // banks


def _deep(layer: OverlayLayer, algorithm: str, kernel: int, held: int) -> bool:
    """Whether kernels whose depth alone is too much come in parts of it: channels of im2col, as many taps of kn2row."""
    if algorithm in WINOGRAD_SIDE or layer.groups > 1 or (layer.images > 1 and not layer.fully_connected):
        return False
    taps = layer.kernel[0] * layer.kernel[1]
    shares = [kernel // parts for parts in range(2, taps + 1) if taps % parts == 0]
    return algorithm == "im2col" or (algorithm == "kn2row" and any(share <= held for share in shares))


def _pooled(layer: OverlayLayer, count: int) -> bool:
    """Whether each of so many pieces ends a window of the pool that takes the layer's results on their way."""
    if layer.pooled is None:
        return True
    own, rows = layer.pooled, layer.output[0]
    ends = [0]
    for number in range(1, count + 1):
        reach = own.size[0] if number == count else min(own.size[0], rows * number // count + own.before[0])
        ends.append(sum(top + own.kernel[0] <= reach for top in range(0, own.size[0], own.stride)))
    return all(one < other for one, other in itertools.pairwise(ends))


def _parts(problem: SelectionProblem, layer: OverlayLayer, algorithm: str) -> set[int]:
    """Numbers of parts that are more than the kernel buffer asks for: the input is one piece, and what a part makes
    fits a memory of sums."""
    engines, banks = problem.machine.engines, most_banks(problem.machine)
    several = layer.groups > 1 or (layer.images > 1 and not layer.fully_connected)
    if engines is None or not engines.kernel_parts or not engines.kernels or several:
        return set()
    taken, depth, positions, kernel = _piece(layer, algorithm, _bands(layer, algorithm))
    across = -(-layer.out_channels // banks)
    parts = 1
    if engines.buffers is not None:
        held, half = (max(1, one // (2 * banks)) for one in (engines.buffers.kernel, engines.buffers.input))
        if kernel > held or taken * -(-depth // banks) > half:
            return set()
        parts = -(-across // (held // kernel))
        widest = -(-layer.out_channels // parts)
        if positions * -(-widest // banks) > engines.buffers.result // banks:
            return set()
    found = set()
    while parts < across:
        parts = min(2 * parts, across)
        found.add(parts)
    return found


def _bands(layer: OverlayLayer, algorithm: str) -> int:
    """Rows of the output, or of tiles."""
    return -(-layer.output[0] // (WINOGRAD_SIDE[algorithm][0] if algorithm in WINOGRAD_SIDE else 1))


def _piece(layer: OverlayLayer, algorithm: str, rows: int) -> tuple[int, int, int, int]:
    """Rows and columns of the input's matrices, rows of sums, and rows of kernels, of so many rows (of tiles)."""
    side = WINOGRAD_SIDE[algorithm][0] if algorithm in WINOGRAD_SIDE else 1
    across = layer.output[1]
    positions = layer.images if layer.fully_connected else rows * across
    taken, depth = positions, layer.in_channels
    kernel = layer.kernel[0] * layer.kernel[1] * (layer.in_channels // layer.groups)
    if algorithm in WINOGRAD_SIDE:
        each, rounds = WINOGRAD_SIDE[algorithm][1] ** 2, math.prod(-(-one // 3) for one in layer.kernel)
        positions = each * rows * -(-across // side)
        taken = rounds * positions
        kernel = each * rounds * (layer.in_channels // layer.groups)
    elif algorithm == "im2col":
        depth *= layer.kernel[0] * layer.kernel[1]
    else:
        patch = -(-layer.map[1] // layer.strides[1])
        reach = min(
            layer.map[0], (rows - 1) * layer.strides[0] + (layer.kernel[0] - 1) * layer.dilations[0] + 1
        )
        taken = math.prod(layer.strides) * -(-reach // layer.strides[0]) * patch
        positions = rows * patch
    return taken, depth, positions, kernel


def _wanted(layer: OverlayLayer, algorithm: str) -> str:
    """The layout in which an algorithm reads."""
    if algorithm in WINOGRAD_SIDE:
        return algorithm
    copies = layer.kernel != (1, 1) or layer.strides != (1, 1) or layer.dilations != (1, 1)
    padded = any(end for pad in layer.pads for end in pad)
    return "toeplitz" if algorithm == "im2col" and (copies or padded) else "tensor3d"


def _stored(problem: SelectionProblem, selection: Selection) -> Iterator[BrokenRule]:
    network = problem.network
    if len(selection.stores) != len(network.stores):
        yield BrokenRule(STORED, "stores", abs(len(selection.stores) - len(network.stores)))
        return
    for at, (store, label) in enumerate(zip(network.stores, selection.stores, strict=True)):
        if label not in network.labels[at]:
            yield BrokenRule(STORED, store.name, 1)
        elif not store.vertex and len(selection.choices) == len(network.layers):
            reader = store.readers[0]
            wanted = _wanted(network.layers[reader], selection.choices[reader].algorithm)
            if problem.machine.engines is not None:
                wanted = "tensor3d"  # Layouts are made as the tensor is loaded.
            if label.partition("@")[0] != wanted:
                yield BrokenRule(READ, store.name, 1)
        if label == "planes" and len(selection.choices) == len(network.layers):
            yield from _planes(problem, selection, at)


def _planes(problem: SelectionProblem, selection: Selection, at: int) -> Iterator[BrokenRule]:
    """Of a tensor that lies channel by channel: lanes are positions, one after another."""
    network, store = problem.network, problem.network.stores[at]
    for reader in store.readers:
        layer, algorithm = network.layers[reader], selection.choices[reader].algorithm
        takes = algorithm == "kn2row" or (algorithm == "im2col" and _wanted(layer, algorithm) == "tensor3d")
        if not takes or layer.strides != (1, 1) or layer.groups > 1 or layer.fully_connected:
            yield BrokenRule(LYING, layer.name, 1)
    for share in store.shares:
        if share.layer is None:
            yield BrokenRule(LYING, store.name, 1)
            continue
        layer, algorithm = network.layers[share.layer], selection.choices[share.layer].algorithm
        patch = -(-layer.map[1] // layer.strides[1])
        spread = algorithm == "kn2row" and patch != layer.output[1]
        if algorithm in WINOGRAD_SIDE or spread or layer.fully_connected or layer.pooled is not None:
            yield BrokenRule(LYING, layer.name, 1)


def _shape(problem: SelectionProblem, selection: Selection) -> Iterator[BrokenRule]:
    rows, columns = selection.array
    if rows * columns > problem.most_pes:
        yield BrokenRule(SHAPE, "array", rows * columns - problem.most_pes)
    yield from _fed(problem, selection)
    rule = problem.machine.resource
    if problem.machine.engines is not None:
        return
    banks = (rows + columns + 2 * max(rows, columns)) * rule.brams_per_bank
    if rule.limits_shapes and banks > rule.brams:
        yield BrokenRule(SHAPE, "array", banks - rule.brams)


def _fed(problem: SelectionProblem, selection: Selection) -> Iterator[BrokenRule]:
    machine, lanes = problem.machine, 2
    while lanes < max(selection.array):
        lanes *= 2
    if machine.engines is not None and machine.bandwidth_gb_s is not None:
        over = 2 * lanes * machine.word_bytes * machine.clock_mhz * 1e6 - machine.bandwidth_gb_s * 1e9
        if over > 0 and lanes > 2:
            yield BrokenRule(FED, "array", over)


def _board(problem: SelectionProblem, cost: SelectionCost) -> Iterator[BrokenRule]:
    board = problem.machine.board
    if problem.machine.engines is not None and board is not None:
        for name, taken in cost.size.to_json().items():
            if taken > getattr(board, name):
                yield BrokenRule(BOARD, name, taken - getattr(board, name))


def _pinned(problem: SelectionProblem, selection: Selection) -> Iterator[BrokenRule]:
    if problem.array is not None and problem.array != selection.array:
        yield BrokenRule(PINNED, "array", 1)
    for layer, choice in zip(problem.network.layers, selection.choices, strict=True):
        pin = problem.pins.get(layer.name)
        if pin is not None and pin.algorithms is not None and choice.algorithm not in pin.algorithms:
            yield BrokenRule(PINNED, f"{layer.name}.algorithm", 1)
        if pin is not None and pin.dataflows is not None and choice.dataflow not in pin.dataflows:
            yield BrokenRule(PINNED, f"{layer.name}.dataflow", 1)
        if pin is not None and pin.parts is not None and choice.parts not in pin.parts:
            yield BrokenRule(PINNED, f"{layer.name}.parts", 1)
    for store, label in zip(problem.network.stores, selection.stores, strict=True):
        if problem.stores.get(store.name, label) != label:
            yield BrokenRule(PINNED, f"{store.name}.store", 1)


def _kept(problem: SelectionProblem, selection: Selection) -> Iterator[BrokenRule]:
    network, room = problem.network, problem.machine.traffic.onchip_bytes
    for at in selection.on_chip:
        store = network.stores[at]
        producer = store.shares[0].layer
        if store.vertex or producer is None:
            yield BrokenRule(KEPT, store.name, 1)
            continue
        reader = store.readers[0]
        taken = _input_bytes(problem, selection, producer) + _input_bytes(problem, selection, reader)
        last = network.layers[reader]
        out = last.images * last.output[0] * last.output[1] * last.out_channels
        taken += out * problem.machine.word_bytes
        taken += sum(_kernel_bytes(problem, selection, one) for one in (producer, reader))
        if taken > room:
            yield BrokenRule(KEPT, store.name, taken - room)


def _stays(problem: SelectionProblem, selection: Selection) -> Iterator[BrokenRule]:
    """Of the generated overlay: maps lie in the tensor buffer, a row of a bank for each position."""
    network, engines, lanes = problem.network, problem.machine.engines, 2
    room = 0 if engines is None or engines.buffers is None else engines.buffers.tensor
    while lanes < max(selection.array):
        lanes *= 2
    taken: dict[int, int] = {}
    for at in selection.on_chip:
        store = network.stores[at]
        reader, producer = store.readers[0], store.shares[0].layer
        positions, channels = store.images * store.elements, store.shares[0].channels
        if (
            store.vertex
            or producer != reader - 1
            or reader not in network.running.direct
            or positions > 65535
        ):
            yield BrokenRule(STAYS, store.name, 1)
        taken[reader] = positions * -(-channels // lanes)
    for reader, rows in taken.items():
        over = rows + taken.get(reader - 1, 0) - room // lanes
        if over > 0:
            yield BrokenRule(STAYS, network.layers[reader].name, over)


def _input_bytes(problem: SelectionProblem, selection: Selection, at: int) -> float:
    layer, algorithm = problem.network.layers[at], selection.choices[at].algorithm
    words = float(layer.images * layer.in_channels)
    wanted = _wanted(layer, algorithm)
    if wanted == "toeplitz":
        words *= layer.output[0] * layer.output[1] * layer.kernel[0] * layer.kernel[1]
    else:
        words *= layer.map[0] * layer.map[1]
    if wanted in WINOGRAD_SIDE:
        small, large = WINOGRAD_SIDE[wanted]
        words *= (large / small) ** 2
    return words * problem.machine.word_bytes


def _kernel_bytes(problem: SelectionProblem, selection: Selection, at: int) -> float:
    layer, algorithm = problem.network.layers[at], selection.choices[at].algorithm
    high, wide = layer.kernel
    depth = 1 if layer.per_channel else layer.in_channels // layer.groups
    kernels = depth * (1 if layer.per_channel else layer.out_channels)
    if algorithm not in WINOGRAD_SIDE:
        return float(high * wide * kernels * problem.machine.word_bytes)
    rule = problem.machine.winograd.rounds
    rounds = high * wide / 9
    if rule == "ceil":
        rounds = -(-high * wide // 9)
    elif rule == "pieces":
        rounds = -(-high // 3) * -(-wide // 3)
    return kernels * rounds * WINOGRAD_SIDE[algorithm][1] ** 2 * problem.machine.word_bytes


def _pace(problem: SelectionProblem, cost: SelectionCost) -> Iterator[BrokenRule]:
    if problem.longest_units is not None and cost.units > problem.longest_units:
        late = (cost.units - problem.longest_units) / problem.machine.units_per_cycle
        yield BrokenRule(PACE, "throughput", late)
