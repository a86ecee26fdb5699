"""``mapper simulate``: a solution, run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mapper.cli.option import AsJson, Seed, Wide, dumped

if TYPE_CHECKING:
    from mapper.models.limit import Standing


def simulate(
    solution: Annotated[
        Path,
        typer.Argument(
            help="A solution written by mapper solve -o; or file.ll:function:N, compared with LLVM's JIT."
        ),
    ],
    seed: Seed = 0,
    rtl: Annotated[bool, typer.Option("--rtl", help="Also run the generated Verilog.")] = False,
    program: Annotated[
        Path | None,
        typer.Option(help="Run this binary instead of the program generated from the solution (Snowflake)."),
    ] = None,
    words: Annotated[
        bool,
        typer.Option(
            "--words", help="Execute every PE's program word by word (TCPA; tilings with their DMA)."
        ),
    ] = False,
    as_json: AsJson = False,
    wide: Wide = False,
) -> None:
    """Run a solution; compare its outputs with a reference and its cost with the model."""
    from mapper.api.verb import simulate as api
    from mapper.cli import terminal
    from mapper.cli.progress import COMPILING
    from mapper.cli.table import print_table, room
    from mapper.kind.text_table import within
    from mapper.models.plain import limited

    told: list[str] = []

    def compiling(standing: Standing) -> None:
        if sys.stderr.isatty() and standing.function is not None and standing.function not in told:
            told.append(standing.function)
            terminal.complain(f"{COMPILING}: {standing.function}, {len(told)} so far")

    # Simulators run too long for plain Python.
    with limited(lambda: None, compiling, plain=False):
        result = api(solution, seed, rtl, program, words)
    if as_json:
        print(dumped(result), end="")
    else:
        print_table(*terminal.simulation_rows(result), wide=wide)
        with within(room(wide)):
            terminal.say(*(line for part in result["parts"] for line in part.get("notes", [])))
        weights = result["data"].get("weights")
        own = f", weights of {weights}" if weights else ""
        terminal.complain(f"data: seeded integers, seed {seed}{own}")
    if result["failed"]:
        terminal.complain("mapper: the simulation disagrees with the reference or the model")
    raise typer.Exit(1 if result["failed"] else 0)
