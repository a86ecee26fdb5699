"""``mapper check`` runs the checkers on proofs; ``mapper explain --proof`` puts proofs into words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mapper.cli.option import AsJson, dumped
from mapper.workloads.document import InputError

if TYPE_CHECKING:
    from mapper.cli.option_group import ProblemOptions
    from mapper.proving.checker import Checked


def check(
    proofs: Annotated[Path, typer.Argument(help="Proofs written by mapper solve --certificate.")],
    problem: Annotated[
        Path | None, typer.Option(help="A solution; the proofs must be about its parts.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check proofs with programs that share nothing with the solvers.

    Exit codes: 0 certified; 1 refuted; 2 malformed; 3 not certified, with the reason.
    """
    from mapper.proving.checker import check as api
    from mapper.proving.checker import exit_code

    checked = api(proofs, problem)
    if as_json:
        print(dumped(as_documents(checked)), end="")
    else:
        _print(checked)
    raise typer.Exit(exit_code(checked))


def as_documents(checked: list[Checked]) -> list[dict[str, str]]:
    """What ``--json`` prints: a list of parts with ``status`` and ``reason``."""
    return [{"part": part, "status": status, "reason": reason} for part, status, reason in checked]


def _print(checked: list[Checked]) -> None:
    from mapper.cli import terminal

    for part, status, reason in checked:
        terminal.say(f"{part or 'proofs'}: {status}: {reason}")


def tell_proof(path: Path, problem: ProblemOptions, export: bool, form: str) -> None:
    """Print the proofs of a file in prose, and end with the exit code of ``mapper check``.

    Raises: InputError if the file holds none, or if a problem is given as well.
    """
    from mapper.proving.checker import exit_code
    from mapper.proving.prose import tell

    if export or any(one not in (None, []) for one in vars(problem).values()):
        raise InputError(
            "--proof", path.name[:60], "holds its own problem; leave out the workload and its options"
        )
    text, checked = tell(path, form)
    print(text, end="")
    raise typer.Exit(exit_code(checked))
