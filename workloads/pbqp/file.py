"""PBQP instances in files: which form a file has, and writing one."""

from __future__ import annotations

import json
from pathlib import Path

from mapper.workloads.document import InputError, parse_document, read_bytes, unmarked
from mapper.workloads.pbqp.binary import MAGIC, pbqp_binary, pbqp_from_binary
from mapper.workloads.pbqp.document import LARGEST_DOCUMENT_BYTES, SCHEMA, pbqp_document, pbqp_from_document
from mapper.workloads.pbqp.instance import PbqpInstance
from mapper.workloads.pbqp.text import pbqp_from_text, pbqp_text
from mapper.workloads.process.whole_file import write_whole

LARGEST_FILE_BYTES = 1 << 31
PREFIX_BYTES = 4096
"""Of a JSON file, where its schema is looked for."""
SUFFIXES = (".in", ".json", ".pbqp")


def is_pbqp(text: str) -> bool:
    """Whether ``text`` names a file of an instance: by its suffix, or a JSON document that says so."""
    path = Path(text)
    if path.suffix != ".json":
        return path.suffix in SUFFIXES
    try:
        with path.open("rb") as file:
            return SCHEMA.encode() in file.read(PREFIX_BYTES)
    except OSError:
        return False


def read_pbqp(path: Path) -> tuple[PbqpInstance, bytes]:
    """The instance in a file (text, JSON or binary, told apart by how it begins) and the file's bytes.

    Raises: InputError naming the file, the line or field, and what to do.
    """
    data = read_bytes(path, LARGEST_FILE_BYTES)
    return pbqp_from_bytes(data, str(path), path.stem), data


def pbqp_from_bytes(data: bytes, source: str, name: str) -> PbqpInstance:
    """The instance in ``data``, in any of the forms; see `read_pbqp`."""
    if data.startswith(MAGIC[:5]):
        return pbqp_from_binary(data, source, name)
    data = unmarked(data, source)
    if data.lstrip()[:1] == b"{":
        return pbqp_from_document(parse_document(data, source, LARGEST_DOCUMENT_BYTES), source, name)
    return pbqp_from_text(data, source, name)


def write_pbqp(problem: PbqpInstance, path: Path) -> None:
    """Write the instance in the form that the file's suffix names.

    Raises: InputError if it names none, or the file cannot be written.
    """
    if path.suffix == ".pbqp":
        write_whole(path, pbqp_binary(problem))
    elif path.suffix == ".in":
        write_whole(path, pbqp_text(problem))
    elif path.suffix == ".json":
        write_whole(path, json.dumps(pbqp_document(problem)) + "\n")
    else:
        raise InputError(str(path), "", f"no form of PBQP ends so; use {', '.join(SUFFIXES)}")
