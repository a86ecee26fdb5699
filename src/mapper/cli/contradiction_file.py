"""How a command reports answers that contradict each other: in one line, with both answers in a file."""

from __future__ import annotations

import json
from pathlib import Path

from mapper.cli.terminal import complain
from mapper.solver.contradiction import ContradictionError
from mapper.workloads.document import InputError
from mapper.workloads.process.whole_file import write_whole

SCHEMA = "mapper.contradiction/1"
SUFFIX = ".contradiction.json"
DEFAULT_NAME = "mapper" + SUFFIX
"""The file for both documents, in the current folder, if the command writes no other file."""
EXIT_CODE = 4


def file_beside(output: Path | None) -> Path:
    """Where both documents go: beside the file that the command writes, else in the folder at hand. Beside a device or
    a pipe is no place for files."""
    if output is None or (output.exists() and not output.is_file()):
        return Path(DEFAULT_NAME)
    return output.with_name(output.name + SUFFIX)


def told(error: ContradictionError, output: Path | None) -> int:
    """Write both documents, say in a line on stderr what contradicts what and where they are; the exit code."""
    path = file_beside(output)
    document = {"schema": SCHEMA, "reason": error.reason, "documents": list(error.documents)}
    try:
        write_whole(path, json.dumps(document, indent=1, allow_nan=False) + "\n", "-o")
        where = f"both are in {path}"
    except InputError as failed:
        where = str(failed)
    line = f"mapper: CONTRADICTION: {error.reason}; one of the two is wrong; {where}, please report it"
    complain(" ".join(line.split()))
    return EXIT_CODE
