"""What one iteration of an element-wise layer does in a PE: the operands of a map, by units and then by n, become one
number, as ``flow`` says it of convolutions."""

from __future__ import annotations

from mapper.models.pe_allocation.configuration.address import Affine
from mapper.models.pe_allocation.configuration.layer_data import LayerData
from mapper.models.pe_allocation.configuration.program import LayerProgram, PeProgram
from mapper.models.pe_allocation.word.flow import Flow, Step, own_filters, slot_steps
from mapper.models.pe_allocation.word.operation import Fifo, Name, Operation, Port, Register
from mapper.models.pe_allocation.word.register_file import Finish, Following, RegisterFile, Timed, divided
from mapper.models.pe_allocation.word.result import following, word_range

LINKS: dict[str, Name] = {
    "sum": "add", "mean": "add", "difference": "add", "largest": "max", "smallest": "min", "product": "mul",
}  # fmt: skip

NEUTRAL: dict[Name, int] = {"add": 0, "mul": 1}


def elementwise(layer: LayerProgram, program: PeProgram, data: LayerData, file: RegisterFile) -> Flow:
    """The flow of a layer that has a rule for its operands, or hands the first one on."""
    if layer.rule not in LINKS:
        return _single(layer, program, data, file)
    return _joined(layer, program, data, file)


def _single(layer: LayerProgram, program: PeProgram, data: LayerData, file: RegisterFile) -> Flow:
    """What has one operand: a normalisation, a rectifier, or an operator that passes its first operand on."""
    own, m = own_filters(program), program.loops[3]
    pixel = file.input(Port("pixels", Affine(("m",), (len(own),), (m.step,), m.first)))
    lift = (layer.arithmetic.lifts or (0,))[0]
    least = word_range(layer)[0] << lift
    shifts: list[Following] = [("asl", file.constant(lift))] if lift else []
    finish = Finish(
        file, [*shifts, *following(layer, own, data, file, (least, -least - 1))], file.output(own)
    )
    cycles = finish.cycles or file.after("mov")
    return Flow(lambda step: finish.operations(0, pixel) if step.first else [], cycles, 1)


def _joined(layer: LayerProgram, program: PeProgram, data: LayerData, file: RegisterFile) -> Flow:
    """The operands of all units are joined one after another, then with what earlier n have made."""
    own, width = own_filters(program), min(layer.depth, layer.delta)
    name = LINKS[layer.rule]
    link, lifted = file.after(name), _lifted(layer, len(own), width, file)
    inputs = _inputs(layer, program, width, link, file)
    values = [file.data() if lifted else one for one in inputs]
    sums = [values[0], *(file.data() for _ in range(width - 1))]
    several = program.loops[2].count > 1
    total = file.fifo(Fifo(len(own))) if several else None
    finish = _finish(layer, own, data, file)
    shift, apart = file.after("asl") if lifted else 0, layer.rule == "difference"
    # What leaves a number as it is, for a unit without an operand.
    none = file.constant(NEUTRAL[name]) if name in NEUTRAL and layer.depth % width else None
    joined, skips = shift + (width - 1) * link, not several

    def issue(step: Step) -> list[Timed]:
        found: list[Timed] = []
        for slot in range(step.slots if lifted else 0):
            at = max(0, slot - 1) * link
            found.append((at, Operation("asl", values[slot], inputs[slot], lifted[slot])))
        for slot in range(1, width):
            own_link: Name = "sub" if apart and step.first else name
            other = values[slot] if slot < step.slots else none or sums[slot - 1]
            at = shift + (slot - 1) * link
            found.append((at, Operation(own_link, sums[slot], sums[slot - 1], other)))
        if skips:
            return found + finish.operations(joined, sums[-1])
        to = finish.entry if step.last else total
        assert total is not None and to is not None
        if step.first:
            found.append((joined, Operation("mov", total, sums[-1], sums[-1])))
        else:
            found.append((joined, Operation("sub" if apart else name, to, total, sums[-1])))
        return found + (finish.operations(joined + link) if step.last else [])

    if skips:
        return Flow(issue, joined + (finish.cycles or file.after("mov")), 1)
    kept = file.after("mov")
    return Flow(
        issue, joined + link + finish.cycles, kept if program.loops[2].count == 2 else max(kept, link)
    )


def _inputs(
    layer: LayerProgram, program: PeProgram, width: int, apart: int, file: RegisterFile
) -> list[Register]:
    """The input of each unit; a unit beyond the second begins ``apart`` cycles after the one before."""
    own, m = own_filters(program), program.loops[3]
    found = []
    for slot in range(width):
        counts = (slot_steps(layer, program, slot), len(own))
        addresses = Affine(
            ("n", "m"), counts, (layer.delta * layer.maps, m.step), slot * layer.maps + m.first
        )
        found.append(file.input(Port("pixels", addresses, max(0, slot - 1) * apart)))
    return found


def _lifted(layer: LayerProgram, maps: int, width: int, file: RegisterFile) -> list[Register]:
    """The bits by which each unit's operands are shifted left, in a cyclic FIFO where they change from n to n; none
    where no operand is shifted."""
    found: list[Register] = []
    for slot in range(width if any(layer.arithmetic.lifts) else 0):
        own = layer.arithmetic.lifts[slot :: layer.delta]
        if len(set(own)) == 1:
            found.append(file.constant(own[0]))
        else:
            turns = tuple(lift for lift in own for _ in range(maps))
            found.append(file.fifo(Fifo(len(turns), True, turns)))
    return found


def _finish(layer: LayerProgram, own: tuple[int, ...], data: LayerData, file: RegisterFile) -> Finish:
    """What follows the joined operands. To the sum of a mean so much is added that it is not negative, and taken off
    after the division."""
    least = word_range(layer)[0] << max(layer.arithmetic.lifts or (0,))
    count = layer.operands
    if layer.rule == "mean":
        file.holds(-2 * least * count)
        after = following(layer, own, data, file, (least, -least - 1))
        more, less = file.constant(-least * count), file.constant(-least)
        steps: list[Following] = [
            ("add", more),
            *divided(file, count, -2 * least * count),
            ("sub", less),
            *after,
        ]
        return Finish(file, steps, file.output(own))
    largest = -least
    if layer.rule in ("sum", "difference"):
        largest *= count
    elif layer.rule == "product":
        largest **= count
    plain = (least, -least - 1) if layer.rule in ("largest", "smallest") else (-largest, largest)
    return Finish(file, following(layer, own, data, file, plain), file.output(own))
