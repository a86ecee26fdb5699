"""``mapper check``: what the checkers say of proofs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mapper.cli.option import AsJson, dumped

if TYPE_CHECKING:
    from mapper.proving.checker import Checked


def check(
    proofs: Annotated[Path, typer.Argument(help="Proofs written by mapper solve --certificate.")],
    problem: Annotated[
        Path | None, typer.Option(help="A solution whose parts must be what the proofs are of.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Whether proofs hold, by programs that share nothing with the solvers.

    Exit codes: 0 certified; 1 refuted; 2 malformed; 3 not certified, and why.
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
