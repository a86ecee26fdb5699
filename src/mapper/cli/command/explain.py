"""``mapper explain``: the formulation of a problem."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mapper.cli.command.check import tell_proof
from mapper.cli.option import ExportFormat, Format
from mapper.cli.option_group import ProblemOptions, grouped


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
) -> None:
    """Print the formulation in words and symbols, with the counts of this instance; or a proof in prose."""
    if proof is not None:
        tell_proof(proof, problem, export is not None, format.value)
    from mapper.api.explaining import explain as api
    from mapper.api.explaining import export as write_model
    from mapper.workloads.process.whole_file import is_stdout

    posed = (problem.workload, problem.arch, problem.objective, problem.options)
    if export is not None:
        write_model(*posed, export[0].value, export[1])
        if is_stdout(export[1]):
            return
    print(api(*posed, format.value), end="")
