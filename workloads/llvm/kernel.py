"""From an innermost loop in LLVM IR to a kernel.

The blocks of the loop become one by predication: a block runs where an edge to it is taken, phis choose by the edges.
A loop that counts is the machine's to count; any other carries a flag that ends it, under which everything runs.
"""

from __future__ import annotations

from dataclasses import replace

from mapper.workloads.c.reading import AS_WRITTEN, SourceReading
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.llvm.alias import AliasMetadata
from mapper.workloads.llvm.count import MIRRORED, OPPOSITE, Count
from mapper.workloads.llvm.instruction import Instructions
from mapper.workloads.llvm.module import Instruction, IrLoop, find_loop, read_module
from mapper.workloads.loop.affine import Form, split
from mapper.workloads.loop.body import LoopBody, Value, integer
from mapper.workloads.loop.building import kernel_of
from mapper.workloads.loop.kind import ArrayShape
from mapper.workloads.loop.lowered import LoweredLoop
from mapper.workloads.loop.reach import Reach

ASSUMED_TRIPS = 16


def kernel_from_llvm(
    data: bytes,
    source: str,
    name: str,
    function: str | None = None,
    number: int | None = None,
    reading: SourceReading = AS_WRITTEN,
) -> Kernel:
    """Innermost loop ``number`` (None: the first) of ``function`` (None: the only one with loops) in the text or
    bitcode ``data``, after LLVM's own passes.

    Raises: InputError naming file, function and instruction for what cannot be mapped.
    """
    return lowering_of(data, source, function, number, reading).kernel(name)


def lowering_of(
    data: bytes, source: str, function: str | None, number: int | None, reading: SourceReading = AS_WRITTEN
) -> Lowering:
    """The innermost loop that ``kernel_from_llvm`` finds, lowered.

    Raises: InputError as there.
    """
    try:
        loop, others = find_loop(read_module(data, source), source, function, number)
        lowering = Lowering(loop, reading.passes)
        if lowering.lowered is None:
            lowering = Lowering(loop, reading.passes, flagged=True)
        if number is None and others:
            lowering.whole.note(f"the function has {others} more innermost loops; this is number 0")
        return lowering
    except RecursionError:
        raise InputError(source, "", "nested too deeply; flatten it") from None


class Lowering:
    """Lowers one loop: header phis, then block after block; ``flagged``: by a flag even if it may count.

    ``lowered``: the loop, ready for passes; None if it counts to what cannot be told, so that a flag must end it.
    Raises: InputError for what cannot be mapped.
    """

    def __init__(self, loop: IrLoop, passes: frozenset[str], flagged: bool = False) -> None:
        self.loop, self.passes, self.flagged = loop, passes, flagged
        self.body = LoopBody("entry" in passes)
        self.lines = Instructions(loop, self.body)
        self.edges: dict[tuple[str, str], Value | None] = {}
        self.where: dict[str, Value | None] = {}
        self.variable: Value | None = None
        self.step = 1
        self.lowered = self._lowered()

    @property
    def whole(self) -> LoweredLoop:
        """The loop that is lowered."""
        assert self.lowered is not None
        return self.lowered

    def kernel(self, name: str) -> Kernel:
        """Its kernel, after the passes.

        Raises: InputError as ``kernel_of``, or if it is nested too deeply.
        """
        try:
            return kernel_of(self.whole, name, "", self.passes)
        except RecursionError:
            raise InputError(self.loop.source, "", "nested too deeply; flatten it") from None

    def _lowered(self) -> LoweredLoop | None:
        header = self.loop.blocks[0]
        phis = [one for one in header.instructions if one.opcode == "phi"]
        carried = self._header(phis)
        counted = not self.flagged and self._counted()
        ended: int | None = None
        alive: Value | None = None
        if not counted:
            ended, found = self.body.carried("ended", "int", integer(0))
            alive = self.lines.body.operation("eq", (found, integer(0)), "int")
        leaving = self._blocks(alive)
        for name, phi in carried.items():
            one = next(phi_ for phi_ in phis if phi_.name == name)
            final = self.lines.operand(self._coming(one, self.loop.latch), one)
            if final.base != self.lines.values[name].base:
                raise self.loop.fault(one, "leads to another array in the next iteration; use one array")
            self.body.nodes[phi].final = self._in_unit(final, one)
        if ended is not None:
            self.body.nodes[ended].final = self._ended(alive, leaving)
        self._live_outs()
        return self._finished(counted)

    def _coming(self, phi: Instruction, block: str) -> Instruction:
        """What ``phi`` takes if it is reached from ``block``."""
        pairs = zip(phi.operands, phi.incoming_blocks, strict=True)
        return next(value for value, origin in pairs if origin.name == block)

    def _outside(self, phi: Instruction) -> Instruction:
        pairs = zip(phi.operands, phi.incoming_blocks, strict=True)
        return next(value for value, origin in pairs if origin.name not in self.loop.names)

    def _header(self, phis: list[Instruction]) -> dict[str, int]:
        """Values that iterations hand on: those that step are inductions, the others are carried."""
        carried: dict[str, int] = {}
        for one in phis:
            start = self.lines.operand(self._outside(one), one)
            step = self._step(one)
            pointer = str(one.type) == "ptr"
            kind = "long" if pointer else self.lines.type_of(one, one).kind
            wide = pointer or self.lines.type_of(one, one).narrow is None
            if step is not None and wide and str(one.type) != "i1":
                found = self.body.induction(
                    one.name, kind, Value(kind, start.node, start.number, start.form), step
                )
                self.variable, self.step = (
                    self.variable or found,
                    step if self.variable is None else self.step,
                )
                found = Value(kind, found.node, found.number, found.form, base=start.base)
            else:
                phi, found = self.body.carried(one.name, kind, start)
                found = Value(kind, found.node, found.number, found.form, str(one.type) == "i1", start.base)
                carried[one.name] = phi
            self.lines.values[one.name] = found
            self.lines.units[one.name] = 1
        return carried

    def _step(self, phi: Instruction) -> int | None:
        """What an iteration adds to ``phi``, in bytes for a pointer, if that is a number."""
        from mapper.workloads.llvm.type import pointed_type, size_of

        final = self.loop.inside.get(self._coming(phi, self.loop.latch).name)
        if final is None or final.opcode not in ("add", "getelementptr"):
            return None
        operands = list(final.operands)
        if operands[0].name != phi.name or len(operands) != 2 or not operands[1].is_constant:
            return None
        number = self.lines.operand(operands[1], final).literal
        size = 1 if final.opcode == "add" else size_of(pointed_type(str(final)))
        return number * size if number and size else None

    def _in_unit(self, value: Value, phi: Instruction) -> Value:
        """A carried pointer counts bytes."""
        unit = self.lines.units.get(self._coming(phi, self.loop.latch).name, 1)
        if value.base is None or unit == 1:
            return value
        wide = self.lines.widened(value)
        return self.body.operation("mul.i64", (wide, integer(unit, "long")), "long")

    def _counted(self) -> bool:
        """Whether the loop ends only at its last block's end, at a count."""
        leaving = [block for block in self.loop.blocks if not set(block.next) <= self.loop.names]
        return len(leaving) == 1 and leaving[0].name == self.loop.latch and self._compare() is not None

    def _compare(self) -> Instruction | None:
        end = next(block for block in self.loop.blocks if block.name == self.loop.latch).end
        if end.opcode != "br" or len(list(end.operands)) != 3:
            return None
        condition = self.loop.inside.get(next(iter(end.operands)).name)
        if condition is None or condition.opcode != "icmp":
            return None
        outside = [one for one in condition.operands if one.is_constant or one.name not in self.loop.inside]
        return condition if len(outside) == 1 and str(outside[0].type) != "ptr" else None

    def _count(self) -> Count | None:
        """The count that the loop ends at, once its values are known."""
        compare = self._compare()
        assert compare is not None
        left, right = (self.lines.operand(one, compare) for one in compare.operands)
        order = str(compare).split(" icmp ")[1].removeprefix("samesign ").split()[0]
        short = order if len(order) == 2 else order[1:]
        if left.node is None:
            left, right, short = right, left, MIRRORED[short]
        block = next(one for one in self.loop.blocks if one.name == self.loop.latch)
        if block.next[0] not in self.loop.names:
            short = OPPOSITE[short]
        if left.form is None or right.node is not None or split(left.form) is None:
            return None
        return Count(left.form, short, right, order[0] == "u")

    def _blocks(self, alive: Value | None) -> list[Value]:
        """Lowers the blocks; returns where the loop is left."""
        header, leaving = self.loop.blocks[0].name, []
        for block in self.loop.blocks:
            where = alive
            if block.name != header:
                coming = [edge for edge in self.edges if edge[1] == block.name]
                where = self._any([self.edges[edge] for edge in coming])
            self.where[block.name] = where
            for one in block.instructions[:-1]:
                if one.opcode != "phi":
                    self.lines.lower(one, where)
                elif block.name != header:
                    self._merge(one)
            for target, taken in self._taken(block.end, block.next, where):
                if target not in self.loop.names:
                    leaving.append(integer(1) if taken is None else taken)
                elif target != header:
                    self.edges[block.name, target] = taken
        return leaving

    def _taken(
        self, end: Instruction, following: tuple[str, ...], where: Value | None
    ) -> list[tuple[str, Value | None]]:
        if end.opcode not in ("br", "ret", "unreachable"):
            raise self.loop.fault(end, f"{end.opcode} cannot be mapped; use conditional branches")
        if len(following) < 2 or following[0] == following[1]:
            return [(name, where) for name in following[:1]]
        condition = self.lines.operand(next(iter(end.operands)), end)
        against = self.body.operation("eq", (condition, integer(0)), "int")
        both = [one if where is None else self._and(where, one) for one in (condition, against)]
        return list(zip(following, both, strict=True))

    def _and(self, left: Value, right: Value) -> Value:
        if right.literal is not None:
            return left if right.literal else right
        return self.body.operation("and", (left, right), "int")

    def _any(self, conditions: list[Value | None]) -> Value | None:
        found: Value | None = None
        for one in conditions:
            if one is None:
                return None
            found = one if found is None else self._or(found, one)
        return found

    def _or(self, left: Value, right: Value) -> Value:
        """Of a condition and its opposite, under another one or none, that other one is left."""
        nodes = self.body.nodes
        for one, other in ((left, right), (right, left)):
            made = None if other.node is None else nodes[other.node]
            if (
                made is not None
                and made.opcode == "eq"
                and made.operands[0].key == one.key
                and made.operands[1].literal == 0
            ):
                return integer(1)
        return self.body.operation("or", (left, right), "int")

    def _merge(self, phi: Instruction) -> None:
        """A phi chooses by the edges that lead to its block; the last one needs no choice."""
        block = next(
            one.name for one in self.loop.blocks if phi.name in {each.name for each in one.instructions}
        )
        pairs = [
            (
                self.edges[origin.name, block],
                self.lines.operand(value, phi),
                self.lines.units.get(value.name, 1),
            )
            for value, origin in zip(phi.operands, phi.incoming_blocks, strict=True)
            if (origin.name, block) in self.edges
        ]
        if (
            len({value.base for _, value, _ in pairs}) > 1
            or len({unit for _, value, unit in pairs if value.base}) > 1
        ):
            raise self.loop.fault(phi, "a pointer leads to one array or another; use one array")
        found = pairs[-1][1]
        for condition, value, _ in reversed(pairs[:-1]):
            found = value if condition is None else self.body.select(condition, value, found)
        self.lines.values[phi.name] = found
        self.lines.units[phi.name] = pairs[-1][2]

    def _ended(self, alive: Value | None, leaving: list[Value]) -> Value:
        assert alive is not None
        left = self._any(list(leaving)) or integer(1)
        before = self.body.operation("eq", (alive, integer(0)), "int")
        return left if left.literal is not None else self.body.operation("or", (before, left), "int")

    def _live_outs(self) -> None:
        """Values that are used after the loop are stored where they are computed, each to a word of its own."""
        used: dict[str, Instruction] = {}
        function = self.loop.module.get_function(self.loop.function)
        inside = self.loop.inside
        for block in function.blocks:
            if block.name not in self.loop.names:
                for one in block.instructions:
                    used |= {each.name: inside[each.name] for each in one.operands if each.name in inside}
        blocks = {one.name: block.name for block in self.loop.blocks for one in block.instructions}
        for name, one in used.items():
            value = self.lines.values.get(name)
            if value is None or value.base is not None or str(one.type) == "ptr":
                continue
            self.lines.arrays[name] = ArrayShape(self.lines.type_of(one, one), (1,))
            self.body.store(name, value.kind, integer(0), value, self.where[blocks[name]])
            self.lines.notes.append(f"%{name} is used after the loop: each iteration stores it to {name}[0]")

    def _finished(self, counted: bool) -> LoweredLoop | None:
        lines, loop = self.lines, self.loop
        count = self._count() if counted else None
        if counted and count is None:
            return None
        assumed = frozenset(lines.symbols)
        trips = ASSUMED_TRIPS if count is None else count.trips(lines.symbols)
        known = count is not None and not {name for term in count.value for name in term if name in assumed}
        known = known and count is not None and count.bound.literal is not None
        last: Form | None = {(): trips - 1} if known and trips else None
        if count is not None and not known:
            lines.notes.append("the bound is a live-in, so the trip count is not known")
        return LoweredLoop(
            self.body, self.variable, self.step, lines.symbols, assumed, trips if known else None, trips,
            self._arrays(), lambda remedy: loop.fault(None, remedy),
            Reach({}, last) if "ranges" in self.passes else Reach(), lines.notes,
        )  # fmt: skip

    def _arrays(self) -> dict[str, ArrayShape]:
        """The arrays, those that metadata keep apart from all others with no aliases."""
        arrays = self.lines.arrays
        aliases = frozenset(name for name, shape in arrays.items() if shape.aliases)
        apart = AliasMetadata(self.loop).told_apart(self.lines.said, aliases)
        return {
            name: replace(shape, aliases=False) if name in apart else shape for name, shape in arrays.items()
        }
