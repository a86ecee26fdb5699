"""The commands: read options, call the API, print tables or JSON, and answer with exit codes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mapper.cli.command.check import check
from mapper.cli.command.compare import compare
from mapper.cli.command.explain import explain
from mapper.cli.command.generate import generate
from mapper.cli.command.list import list_names
from mapper.cli.command.report import report_page
from mapper.cli.command.run import run_generated
from mapper.cli.command.schema import schema
from mapper.cli.command.show import show
from mapper.cli.command.simulate import simulate
from mapper.cli.command.solve import evaluate, solve
from mapper.cli.command.store import app as store_app
from mapper.cli.command.sweep import sweep
from mapper.cli.command.warm_up import warm_up

# The base of all wrong usage; typer does not export it under a name of its own.
UsageError: Any = typer.BadParameter.__bases__[0]

EXIT_CODES = (
    "0 mapped; 1 proven to have no answer, or rejected; 2 the problem cannot be posed; 3 no answer within the limit; "
    "4 two answers contradict each other (both are written to a file)"
)
app = typer.Typer(
    name="mapper",
    help="Decide how loops, kernels and networks run on accelerators, and prove how good the decision is.\n\n"
    f"Exit codes: {EXIT_CODES}.",
    epilog="Example: mapper solve --objective edp",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from mapper import __version__

        print(f"mapper {__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Nothing but what all commands share."""


app.add_typer(store_app, name="store")
app.command(epilog="Example: mapper solve resnet50 --objective edp -o resnet50.json")(solve)
app.command(epilog="Example: mapper compare resnet-dmazerunner --objective edp")(compare)
app.command(epilog="Example: mapper check proofs.json --problem solution.json")(check)
app.command(epilog="Example: mapper explain resnet-dmazerunner/conv5_2 --format markdown")(explain)
app.command(
    epilog="Example: mapper evaluate resnet-dmazerunner/conv5_2 --arch dmazerunner-256 --mapping conv5_2.json"
)(evaluate)
app.command(
    epilog="Example: mapper sweep resnet-dmazerunner/conv5_2 --vary rf.bytes=256,512 --vary spm.bytes=65536,131072"
)(sweep)
app.command(epilog="Example: mapper simulate solution.json")(simulate)
app.command(epilog="Example: mapper generate solution.json -o out")(generate)
app.command(name="run", epilog="Example: mapper run out --input image.npy -o result.npy")(run_generated)
app.command(name="report", epilog="Example: mapper report solution.json -o report.html")(report_page)
app.command(name="list", epilog="Example: mapper list workloads")(list_names)
app.command(epilog="Example: mapper show dmazerunner-256 > mine.yaml")(show)
app.command(epilog="Example: mapper schema dataflow > dataflow.schema.json")(schema)
app.command(name="warm-up", epilog="Example: mapper warm-up")(warm_up)
