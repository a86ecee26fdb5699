"""``mapper explain``: the formulation of a problem."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from mapper.cli.command.check import tell_proof
from mapper.cli.option import AsJson, ExportFormat, Format, dumped
from mapper.cli.option_group import ProblemOptions, grouped
from mapper.workloads.document import InputError


@grouped
def explain(
    problem: ProblemOptions,
    format: Annotated[Format, typer.Option(help="The format of the text.")] = Format.text,
    export: Annotated[
        tuple[ExportFormat, Path] | None,
        typer.Option(help="Write the model itself: a format (lp, mps or cpsat) and a file."),
    ] = None,
    proof: Annotated[
        Path | None,
        typer.Option(help="Explain the proofs in this file instead (exit codes as for mapper check)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the formulation in words and symbols, with the counts of this instance; or a proof in prose."""
    if proof is not None:
        if as_json:
            raise InputError("--json", "", "is for a formulation; mapper check --json tells what proofs hold")
        tell_proof(proof, problem, export is not None, format.value)
    from mapper.api.explaining import explain as api
    from mapper.api.explaining import export as write_model
    from mapper.cli.table import room
    from mapper.cli.terminal import broken, complain
    from mapper.workloads.process.whole_file import is_stdout

    posed = (problem.workload, problem.arch, problem.objective, problem.options)
    if export is not None:
        if sys.stderr.isatty():
            complain(f"building the model for {export[1]} (long initiation intervals take a minute)")
        write_model(*posed, export[0].value, export[1])
        if is_stdout(export[1]):
            return
    text = api(*posed, format.value)
    if as_json:
        text = dumped({"schema": "mapper.explanation/1", "format": format.value, "text": text})
    elif format.value == "text":
        text = "".join(f"{broken(line, room())}\n" for line in text.splitlines())
    print(text, end="")
