"""``mapper report``: a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mapper.cli.command.solve import contradictions_beside
from mapper.cli.option import AsJson, check_writable, dumped
from mapper.workloads.document import InputError


def report_page(
    solutions: Annotated[
        list[Path],
        typer.Argument(
            help="Solutions, their proofs (solve --certificate), and output of "
            "compare --json or sweep --json.",
            metavar="SOLUTION...",
        ),
    ],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The page to write (.html).")] = None,
    as_json: AsJson = False,
) -> None:
    """Write one HTML page that shows what is proven and why, the costs, and pictures."""
    from mapper.cli import terminal
    from mapper.reporting import report as api
    from mapper.workloads.process.whole_file import is_stdout, write_whole

    if output is None:
        raise InputError("-o", "", "is missing; give the page to write, as report.html")
    check_writable(output)
    with contradictions_beside(output):
        page = api(*solutions)
    write_whole(output, page, "-o")
    if is_stdout(output):
        return
    if as_json:
        print(dumped({"schema": "mapper.report/1", "page": str(output), "bytes": len(page)}), end="")
    else:
        terminal.say(str(output))
