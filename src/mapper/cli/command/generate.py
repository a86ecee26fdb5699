"""``mapper generate``: a solution as code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mapper.cli.option import AsJson, Seed, dumped
from mapper.workloads.document import InputError


def generate(
    solution: Annotated[Path, typer.Argument(help="A solution written by mapper solve -o.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The folder to write to.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Generate code from a solution."""
    from mapper.api.verb import generate as api
    from mapper.cli import terminal

    if output is None:
        raise InputError("-o", "", "is missing; give the folder to write to")
    written = [str(path) for path in api(solution, output, seed)]
    if as_json:
        print(dumped({"schema": "mapper.generated/1", "files": written}), end="")
    else:
        terminal.say(*written)
