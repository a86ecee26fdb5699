"""``mapper report``: a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mapper.cli.command.solve import contradictions_beside
from mapper.cli.option import check_writable
from mapper.workloads.document import InputError


def report_page(
    solutions: Annotated[
        list[Path],
        typer.Argument(
            help="Solutions, their proofs (solve --certificate), and what "
            "compare --json or sweep --json printed.",
            metavar="SOLUTION...",
        ),
    ],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The page to write (.html).")] = None,
) -> None:
    """A page to look at: what is proven, what it costs and why, pictures; it needs nothing but a browser."""
    from mapper.cli import terminal
    from mapper.reporting import report as api
    from mapper.workloads.process.whole_file import is_stdout, write_whole

    if output is None:
        raise InputError("-o", "", "is missing; give the page to write, as report.html")
    check_writable(output)
    with contradictions_beside(output):
        page = api(*solutions)
    write_whole(output, page, "-o")
    if not is_stdout(output):
        terminal.say(str(output))
