"""Random instructions of Snowflake for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from mapper.models.trace_partition.isa.instruction import (
    ALL_UNITS,
    CLIP,
    COOP_MOVE,
    DEAL,
    MAX_START,
    RELU,
    START_SHIFT,
    UNITS_SHIFT,
    WIDE,
    WRITE,
    Instruction,
    Move,
    Operation,
    Target,
)

_REGISTER = st.integers(0, 31)


def _flag(bit: int) -> st.SearchStrategy[int]:
    return st.sampled_from((0, bit))


@st.composite
def instructions(draw: st.DrawFn) -> Instruction:
    """Every instruction there is."""
    operation = draw(st.sampled_from(list(Operation)))
    a, b, c, d = (draw(_REGISTER) for _ in range(4))
    wide = draw(st.integers(-(1 << 17), (1 << 17) - 1))
    match operation:
        case Operation.HALT:
            return Instruction(operation, immediate=draw(st.integers(0, (1 << 17) - 1)))
        case Operation.MOVI:
            return Instruction(operation, a, immediate=draw(st.integers(0, 0xFFFF)), high=draw(st.booleans()))
        case Operation.ADD:
            return Instruction(operation, a, b, c)
        case Operation.ADDI | Operation.BNE | Operation.BLT:
            return Instruction(operation, a, b, immediate=wide)
        case Operation.WAIT:
            return Instruction(
                operation, draw(st.integers(0, 3)), immediate=draw(st.integers(0, (1 << 17) - 1))
            )
        case Operation.SYNC:
            return Instruction(operation)
        case Operation.LD:
            target = draw(st.sampled_from(list(Target)))
            if target is Target.CODE:
                return Instruction(operation, b=b, flags=target)
            units = draw(st.integers(0, ALL_UNITS if target is Target.FILL else DEAL))
            return Instruction(operation, a, b, c, d, flags=target | units << UNITS_SHIFT)
        case Operation.TMOV:
            return Instruction(operation, a, b, c, d, flags=draw(st.integers(0, 3)) << UNITS_SHIFT)
        case Operation.VMOV:
            kind = draw(st.sampled_from(list(Move)))
            lanes = 0 if kind is Move.CLIP else draw(_flag(COOP_MOVE))
            return Instruction(operation, b=b, c=c, flags=kind | lanes)
        case Operation.MAC:
            flags = draw(st.integers(0, 2)) | draw(st.integers(0, 3)) << START_SHIFT
            flags |= draw(_flag(WRITE)) | draw(_flag(WIDE)) | draw(_flag(RELU)) | draw(_flag(CLIP))
            return Instruction(operation, a, b, c, d, flags=flags)
        case Operation.MAX:
            flags = draw(_flag(MAX_START)) | draw(_flag(WRITE)) | draw(_flag(RELU)) | draw(_flag(CLIP))
            return Instruction(operation, a, b, c, flags=flags)
