"""What the benchmarks of folders of C files share: their arguments, and the functions in which they look for loops."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from mapper.workloads.c.file import expanded
from mapper.workloads.c.reading import SourceReading
from mapper.workloads.c.unit import cut
from mapper.workloads.document import InputError, decoded


def arguments(description: str | None, seconds: float, limit: str) -> argparse.ArgumentParser:
    """Of a benchmark whose searches have ``seconds`` each unless ``--seconds`` says otherwise, in the words of
    ``limit``."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--functions", default="*", help="a pattern of their names")
    parser.add_argument(
        "--without", action="append", default=[], help="a folder or file in the folder that is left out"
    )
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--define", action="append", default=[])
    parser.add_argument("--arch", default="srp-4x4")
    parser.add_argument("--seconds", type=float, default=seconds, help=limit)
    return parser


def reading_of(given: argparse.Namespace) -> SourceReading:
    return SourceReading(tuple(given.include), tuple(given.define))


def texts(given: argparse.Namespace) -> Iterator[tuple[Path, str, list[str] | InputError]]:
    """Every C file with its text and the functions with loops that match; or why it cannot be read."""
    left_out = [given.folder / one for one in given.without]
    for file in sorted(given.folder.rglob("*.c")):
        if any(file.is_relative_to(one) for one in left_out):
            continue
        try:
            text = decoded(file.read_bytes(), str(file))
            looping = cut(expanded(text, str(file), reading_of(given))[0], str(file)).looping
        except InputError as error:
            yield file, "", error
            continue
        yield file, text, [one for one in dict.fromkeys(looping) if fnmatch(one, given.functions)]
