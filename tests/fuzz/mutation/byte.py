"""Bytes with changes that any form of file may suffer: flipped, cut, repeated, and numbers overwritten."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

NUMBERS = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 1 << 24, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40,
           (1 << 63) - 1, 1 << 63, (1 << 64) - 1)  # fmt: skip
LARGEST_BYTES = 1 << 20
"""Larger inputs are cut: what a file holds, not its size, is what is tried."""


def mutated_bytes(data: bytes, random: Random) -> bytes:
    """``data`` with one change; never longer than ``LARGEST_BYTES``."""
    change: Callable[[bytes, Random], bytes] = random.choice(
        (_flipped, _overwritten, _overwritten, _cut, _without, _repeated, _inserted)
    )
    return change(data or b"\0", random)[:LARGEST_BYTES]


def _flipped(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data))
    return data[:at] + bytes((data[at] ^ 1 << random.randrange(8),)) + data[at + 1 :]


def _overwritten(data: bytes, random: Random) -> bytes:
    """A number of 1, 2, 4 or 8 bytes replaced: lengths, counts and addresses are such."""
    width = random.choice((1, 2, 4, 8))
    at = random.randrange(len(data))
    number = random.choice(NUMBERS) % (1 << 8 * width)
    return data[:at] + number.to_bytes(width, "little") + data[at + width :]


def _cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data))]


def _block(data: bytes, random: Random) -> slice:
    at = random.randrange(len(data))
    return slice(at, at + random.choice((1, 2, 8, 64, 1000)))


def _without(data: bytes, random: Random) -> bytes:
    block = _block(data, random)
    return data[: block.start] + data[block.stop :]


def _repeated(data: bytes, random: Random) -> bytes:
    block = _block(data, random)
    return data[: block.start] + data[block] * random.choice((2, 3, 100)) + data[block.stop :]


def _inserted(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data))
    return data[:at] + random.choice((b"\0", b"\xff" * 8, b"\n", b"\xed\xa0\x80", b"\0" * 64)) + data[at:]
