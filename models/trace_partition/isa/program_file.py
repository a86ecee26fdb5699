"""Compiled programs as files (docs/snowflake/binary.md), and at another place in memory."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from mapper.arch.snowflake import INSTRUCTION_BYTES, WORD_BYTES
from mapper.models.trace_partition.isa.program import ClusterCode, Code, Mark, PlacedTensor, Program, Segment
from mapper.models.trace_partition.isa.program_check import check_program
from mapper.models.trace_partition.isa.program_header import Header
from mapper.workloads.document import InputError, read_bytes, validation_error
from mapper.workloads.text.structured_text import RepeatedKeyError, load_json

MAGIC = b"SNOWFLK\n"
VERSION = 1
LARGEST_FILE = 1 << 30
LARGEST_HEADER = 1 << 24
_START = struct.Struct("<8sII")
_RELOCATION_BYTES = 4


def write_program(program: Program) -> bytes:
    """The program as a file."""
    try:
        header = Header.of(program).model_dump_json().encode("utf-8")
    except ValidationError as error:
        raise validation_error(error, program.name[:60], Header) from None
    parts = [_START.pack(MAGIC, VERSION, len(header)), header]
    for cluster in program.clusters:
        parts.append(cluster.code.astype("<u4").tobytes())
        parts.append(np.array(cluster.relocations, "<u4").tobytes())
    parts.extend(segment.words.astype("<i2").tobytes() for segment in program.segments)
    return b"".join(parts)


def load_program(path: Path) -> Program:
    """The program in a file.

    Raises: InputError if the file cannot be read or holds none.
    """
    return read_program(read_bytes(path, LARGEST_FILE), str(path))


def read_program(data: bytes, source: str) -> Program:
    """The program in the bytes of a file; its words are views of the bytes.

    Raises: InputError naming the field of ``source`` that is not as docs/snowflake/binary.md says, or the place of a
    word that is no instruction.
    """
    if len(data) < _START.size or not data.startswith(MAGIC):
        raise InputError(
            source, "", "is not a Snowflake program; give a file that `mapper generate` has written"
        )
    _, version, length = _START.unpack_from(data)
    if version != VERSION:
        raise InputError(
            source, "version", f"is {version}; this is for version {VERSION}: compile the network again"
        )
    if length > LARGEST_HEADER or _START.size + length > len(data):
        raise InputError(
            source, "header", f"{length} bytes are more than the file has or may have; copy it again"
        )
    _check_keys(data[_START.size : _START.size + length], source)
    try:
        header = Header.model_validate_json(data[_START.size : _START.size + length])
    except ValidationError as error:
        raise validation_error(error, source, Header) from None
    sizes = sum(
        INSTRUCTION_BYTES * cluster.instructions + _RELOCATION_BYTES * cluster.relocations
        for cluster in header.clusters
    ) + sum(WORD_BYTES * segment.words for segment in header.segments)
    remaining = len(data) - _START.size - length
    if sizes != remaining:
        raise InputError(
            source, "", f"code and data should be {sizes} bytes, but are {remaining}; copy the file again"
        )
    program = _assembled(header, data, _START.size + length)
    check_program(program, source)
    return program


def _check_keys(header: bytes, source: str) -> None:
    try:
        load_json(header.decode("utf-8"))
    except RepeatedKeyError as error:
        raise InputError(
            source, f"header.{error.key[:60]}", "occurs twice; compile the network again"
        ) from None
    except (ValueError, RecursionError):
        pass  # What is wrong with it the validation says.


def _assembled(header: Header, data: bytes, at: int) -> Program:
    """The program of a header and the words that follow it from byte ``at`` on."""
    clusters: list[ClusterCode] = []
    for entry in header.clusters:
        code = np.frombuffer(data, "<u4", entry.instructions, at)
        at += code.nbytes
        relocations = np.frombuffer(data, "<u4", entry.relocations, at)
        at += relocations.nbytes
        marks = tuple(Mark(mark.layer, mark.place) for mark in entry.marks)
        clusters.append(ClusterCode(code, entry.address, marks, tuple(relocations.tolist())))
    segments: list[Segment] = []
    for place in header.segments:
        words = np.frombuffer(data, "<i2", place.words, at)
        at += words.nbytes
        segments.append(Segment(place.name, place.address, words))
    return Program(
        name=header.name,
        words=header.words,
        clusters=tuple(clusters),
        segments=tuple(segments),
        tensors=tuple(PlacedTensor(place.name, place.address, place.words) for place in header.tensors),
        calls=tuple(entry.call() for entry in header.calls),
        inputs=tuple(tuple((named.name, named.view.view()) for named in image) for image in header.inputs),
        outputs=tuple(tuple((named.name, named.view.view()) for named in image) for image in header.outputs),
        base=header.base,
        shapes=header.shapes,
        accelerators=header.accelerators,
    )


def relocated(program: Program, base: int) -> Program:
    """The same program from word ``base`` of memory on: every address in its code moved by as much.

    Raises: InputError if it would end beyond the addresses of 32 bits.
    """
    if base < 0 or base + program.words > 1 << 32:
        raise InputError(
            f"program {program.name}", "base", f"{base} is beyond the addresses of 32 bits; take a lower"
        )
    moved = tuple(
        replace(
            cluster, code=_moved(cluster.code, np.array(cluster.relocations, np.int64), base - program.base)
        )
        for cluster in program.clusters
    )
    return replace(program, clusters=moved, base=base)


def _moved(code: Code, places: np.typing.NDArray[np.int64], distance: int) -> Code:
    """Code in which MOVI at each place and the MOVI.H after it load an address that is ``distance`` greater."""
    half = np.int64(0xFFFF)
    words = code.astype(np.int64)
    address = (words[places] & half) + ((words[places + 1] & half) << 16) + distance
    words[places] = (words[places] & ~half) | (address & half)
    words[places + 1] = (words[places + 1] & ~half) | (address >> 16 & half)
    return words.astype(np.uint32)
