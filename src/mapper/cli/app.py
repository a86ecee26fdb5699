"""The commands: read options, call the API, print tables or JSON, and answer with exit codes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from mapper.cli.check_command import check, tell_proof
from mapper.cli.compare_command import compare
from mapper.cli.listing import Listing, listed_names
from mapper.cli.option import AsJson, ExportFormat, Format, Seed, check_writable, dumped
from mapper.cli.option_group import ProblemOptions, grouped
from mapper.cli.solve_command import contradictions_beside, evaluate, solve
from mapper.cli.store_command import app as store_app
from mapper.cli.sweep_command import sweep
from mapper.workloads.document import InputError

# The base of all wrong usage; typer does not export it under a name of its own.
UsageError: Any = typer.BadParameter.__bases__[0]

EXIT_CODES = (
    "0 mapped; 1 proven to have no answer, or rejected; 2 the problem cannot be posed; 3 no answer within the limit; "
    "4 two answers contradict each other, both are in a file"
)
app = typer.Typer(
    name="mapper",
    help="Decide how loops, kernels and networks run on accelerators, and prove how good the decision is.\n\n"
    f"Exit codes: {EXIT_CODES}.",
    epilog="Example: mapper solve --objective edp",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(store_app, name="store")
app.command(epilog="Example: mapper solve resnet50 --objective edp -o resnet50.json")(solve)
app.command(epilog="Example: mapper compare resnet-dmazerunner --objective edp")(compare)
app.command(epilog="Example: mapper check proofs.json --problem solution.json")(check)


@app.command(epilog="Example: mapper explain resnet-dmazerunner/conv5_2 --format markdown")
@grouped
def explain(
    problem: ProblemOptions,
    format: Annotated[Format, typer.Option(help="How to write it.")] = Format.text,
    export: Annotated[
        tuple[ExportFormat, Path] | None,
        typer.Option(help="Write the model itself: lp, mps or cpsat, and a file."),
    ] = None,
    proof: Annotated[
        Path | None,
        typer.Option(help="Tell the proofs of this file in prose instead (exit codes as mapper check)."),
    ] = None,
) -> None:
    """The formulation in words, symbols and counts of this instance; or a proof in prose."""
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


app.command(
    epilog="Example: mapper evaluate resnet-dmazerunner/conv5_2 --arch dmazerunner-256 --mapping conv5_2.json"
)(evaluate)
app.command(
    epilog="Example: mapper sweep resnet-dmazerunner/conv5_2 --vary rf.bytes=256,512 --vary spm.bytes=65536,131072"
)(sweep)


@app.command(epilog="Example: mapper simulate solution.json")
def simulate(
    solution: Annotated[Path, typer.Argument(help="A solution written by mapper solve -o.")],
    seed: Seed = 0,
    rtl: Annotated[
        bool, typer.Option("--rtl", help="Run the generated Verilog too, for arrays of up to 64 PEs.")
    ] = False,
    program: Annotated[
        Path | None,
        typer.Option(help="Run this binary in place of the program that the solution becomes (Snowflake)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a solution: outputs against a reference, simulated cost against the model."""
    from mapper.api.verb import simulate as api
    from mapper.cli import terminal
    from mapper.cli.progress import COMPILING
    from mapper.models.limit import limited

    def compiling() -> None:
        if sys.stderr.isatty():
            terminal.complain(COMPILING)

    # Simulators run too long for plain Python.
    with limited(lambda: None, compiling, plain=False):
        result = api(solution, seed, rtl, program)
    if as_json:
        print(dumped(result), end="")
    else:
        terminal.print_table(*terminal.simulation_rows(result))
        terminal.say(*(line for part in result["parts"] for line in part.get("notes", [])))
        weights = result["data"].get("weights")
        own = f", weights of {weights}" if weights else ""
        terminal.complain(f"data: seeded integers, seed {seed}{own}")
    if result["failed"]:
        terminal.complain("mapper: the simulation disagrees with the reference or the model")
    raise typer.Exit(1 if result["failed"] else 0)


@app.command(epilog="Example: mapper generate solution.json -o out")
def generate(
    solution: Annotated[Path, typer.Argument(help="A solution written by mapper solve -o.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The folder to write to.")] = None,
    seed: Seed = 0,
) -> None:
    """Write the code that a solution becomes."""
    from mapper.api.verb import generate as api
    from mapper.cli import terminal

    if output is None:
        raise InputError("-o", "", "is missing; give the folder to write to")
    terminal.say(*map(str, api(solution, output, seed)))


@app.command(name="report", epilog="Example: mapper report solution.json -o report.html")
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


@app.command(name="list", epilog="Example: mapper list workloads")
def list_names(
    what: Annotated[Listing, typer.Argument(help="What to list.")],
    as_json: AsJson = False,
) -> None:
    """Names that the other commands take."""
    from mapper.cli import terminal
    from mapper.kind.text_table import text_table

    names = listed_names(what)
    if as_json:
        print(dumped([{"name": name, "description": text} for name, text in names]), end="")
        return
    terminal.say(*text_table(("name", "description"), names, words={"description"}))


@app.command(epilog="Example: mapper show dmazerunner-256 > mine.yaml")
def show(
    name: Annotated[
        str, typer.Argument(help="A machine, a document or a kernel of the catalogue, or a Snowflake binary.")
    ],
) -> None:
    """A preset as YAML, or a kernel as C, to edit; a Snowflake binary (.snow) as an assembler listing."""
    from mapper.arch.source import preset_text
    from mapper.workloads.catalogue import document_text
    from mapper.workloads.graph.kernel_catalogue import KERNELS, kernel_bytes

    if name.endswith(".snow"):
        from mapper.codegen.trace_partition.listing import listing
        from mapper.models.trace_partition.isa.program_file import load_program

        print(listing(load_program(Path(name))), end="")
        return
    text = preset_text(name) or document_text(name)
    if text is None and name in KERNELS:
        text = kernel_bytes(name).decode()
    if text is None:
        raise InputError("show", name, "is no preset; see mapper list archs and mapper list workloads")
    print(text, end="")
