"""Programs of networks in files: a JSON document, and the constants beside it as numbers of 32 bits."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from mapper.models.modulo_schedule.program.consistent import refuse_inconsistent
from mapper.models.modulo_schedule.program.constant import Values
from mapper.models.modulo_schedule.program.program import SCHEMA, Program
from mapper.models.modulo_schedule.program.step import MOST_WORDS
from mapper.workloads.document import InputError, parse_document, read_bytes, validation_error

PROGRAM, CONSTANTS = "program.json", "constants.bin"
LARGEST_PROGRAM_BYTES = 1 << 28


def written(program: Program, constants: Values) -> dict[str, str | bytes]:
    """The two files by name; numbers are little-endian."""
    document = program.model_dump(mode="json", by_alias=True)
    return {
        PROGRAM: json.dumps(document, indent=1, allow_nan=False) + "\n",
        CONSTANTS: constants.astype("<f4").tobytes(),
    }


def load_network_program(path: Path) -> tuple[Program, Values]:
    """The program in the file ``path``, and the constants in the file beside it.

    Raises: InputError if one cannot be read, or they do not belong together.
    """
    source = str(path)
    fields = parse_document(read_bytes(path, LARGEST_PROGRAM_BYTES), source, LARGEST_PROGRAM_BYTES)
    if fields.get("schema") != SCHEMA:
        raise InputError(source, "schema", f"must be {SCHEMA}; give what `mapper generate` has written")
    try:
        program = Program.model_validate(fields)
    except ValidationError as error:
        raise validation_error(error, source, Program) from None
    refuse_inconsistent(program, source)
    beside = path.with_name(CONSTANTS)
    content = read_bytes(beside, 4 * MOST_WORDS)
    if (
        hashlib.sha256(content).hexdigest() != program.constants_sha256
        or len(content) != 4 * program.constants
    ):
        raise InputError(str(beside), "", f"does not belong to {path.name}; generate both again")
    return program, np.frombuffer(content, "<f4").astype(np.float32)
