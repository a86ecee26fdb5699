"""The commands: read options, call the API, print tables or JSON, and answer with exit codes."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mapper.listing import Listing, listed_names
from mapper.option import (
    Arch,
    AsJson,
    Batch,
    ExportFormat,
    Fix,
    Format,
    FrontPlot,
    Log,
    MaxBuffer,
    MaxPes,
    MethodName,
    MinThroughput,
    Model,
    Objective,
    Output,
    Pareto,
    Quiet,
    Seed,
    TimeLimit,
    Workers,
    Workload,
    check_writable,
    dumped,
    interruptible,
    progress_of,
    read_options,
    read_search,
)
from mapper.workloads.document import InputError

if TYPE_CHECKING:
    from mapper.kind.kind import Options
    from mapper.solution import Solution
    from mapper.solving import Search

app = typer.Typer(
    name="mapper",
    help="Decide how loops, kernels and networks run on accelerators, and prove how good the decision is.",
    epilog="Example: mapper solve --objective edp",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.command(epilog="Example: mapper solve resnet50 --objective edp -o resnet50.json")
def solve(
    workload: Workload = None,
    arch: Arch = None,
    objective: Objective = None,
    method: MethodName = "auto",
    time_limit: TimeLimit = None,
    workers: Workers = None,
    seed: Seed = 0,
    output: Output = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    log: Log = None,
    batch: Batch = None,
    fix: Fix = None,
    min_throughput: MinThroughput = None,
    max_pes: MaxPes = None,
    max_buffer: MaxBuffer = None,
    model: Model = None,
    pareto: Pareto = False,
    plot: FrontPlot = None,
) -> None:
    """Map a workload to a machine, and prove the mapping optimal."""
    from mapper.posing import pose
    from mapper.solution import write_whole
    from mapper.solving import run

    options = read_options(batch, fix, min_throughput, max_pes, max_buffer, model)
    search = read_search(method, time_limit, workers, seed)
    check_writable(output)
    check_writable(plot)
    if pareto:
        _trade_offs(workload, arch, objective, options, search, output, plot, as_json, quiet, log)
    if plot is not None:
        raise InputError("--plot", str(plot), "draws trade-offs; give --pareto too")
    with interruptible(search):
        posed = pose(workload, arch, objective, options)
        with progress_of(len(posed.parts), quiet, log) as report:

            def finished(solution: Solution) -> None:
                report.finished(solution)
                if output is not None:
                    write_whole(output, dumped(solution.to_json()))

            solution = run(posed, replace(search, listener=report.progress), finished)
    if output is not None:
        write_whole(output, dumped(solution.to_json()))
    _show(solution, as_json)


@app.command(epilog="Example: mapper compare resnet-dmazerunner --objective edp")
def compare(
    workload: Workload = None,
    arch: Arch = None,
    objective: Objective = None,
    method: Annotated[list[str] | None, typer.Option(help="Only these methods. Repeatable.")] = None,
    time_limit: TimeLimit = None,
    workers: Workers = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
    quiet: Quiet = False,
    log: Log = None,
    batch: Batch = None,
    fix: Fix = None,
    min_throughput: MinThroughput = None,
    max_pes: MaxPes = None,
    max_buffer: MaxBuffer = None,
    model: Model = None,
) -> None:
    """Every method that fits, side by side: value, distance from the proven optimum, seconds."""
    from mapper import terminal
    from mapper.comparison import compare as api
    from mapper.solving import method_named

    options = read_options(batch, fix, min_throughput, max_pes, max_buffer, model)
    search = read_search("auto", time_limit, workers, seed)
    if method:
        from mapper.posing import pose

        posed = pose(workload, arch, objective, options)
        for name in method:
            method_named(posed, name)
    with interruptible(search), progress_of(1, quiet, log) as report:
        comparison = api(
            workload, arch, objective, options, replace(search, listener=report.progress), method
        )
    heading, lines = terminal.comparison_rows(comparison)
    if as_json:
        print(dumped(comparison.to_json()), end="")
    elif as_csv:
        print(terminal.as_csv(heading, lines), end="")
    elif as_markdown:
        print(terminal.as_markdown(heading, lines), end="")
    else:
        terminal.print_table(heading, lines)
        print("".join(f"{line}\n" for line in comparison.remarks), end="")
        for name, reason in comparison.refused.items():
            print(f"{name} does not fit: {reason}", file=sys.stderr)
    found = any(row.certificate.found for row in comparison.rows)
    infeasible = any(row.certificate.proven and not row.certificate.found for row in comparison.rows)
    raise typer.Exit(0 if found else 1 if infeasible else 3)


@app.command(epilog="Example: mapper explain resnet-dmazerunner/conv5_2 --format markdown")
def explain(
    workload: Workload = None,
    arch: Arch = None,
    objective: Objective = None,
    format: Annotated[Format, typer.Option(help="How to write it.")] = Format.text,
    export: Annotated[
        tuple[ExportFormat, Path] | None,
        typer.Option(help="Write the model itself: lp, mps or cpsat, and a file."),
    ] = None,
    batch: Batch = None,
    fix: Fix = None,
    min_throughput: MinThroughput = None,
    max_pes: MaxPes = None,
    max_buffer: MaxBuffer = None,
    model: Model = None,
) -> None:
    """The formulation in words, symbols and counts of this instance."""
    from mapper.explaining import explain as api
    from mapper.explaining import export as write_model

    options = read_options(batch, fix, min_throughput, max_pes, max_buffer, model)
    if export is not None:
        write_model(workload, arch, objective, options, export[0].value, export[1])
    print(api(workload, arch, objective, options, format.value), end="")


@app.command(
    epilog="Example: mapper evaluate resnet-dmazerunner/conv5_2 --arch dmazerunner-256 --mapping conv5_2.json"
)
def evaluate(
    workload: Workload = None,
    arch: Arch = None,
    mapping: Annotated[Path | None, typer.Option(help="A mapping or a solution, as JSON or YAML.")] = None,
    objective: Objective = None,
    output: Output = None,
    as_json: AsJson = False,
    batch: Batch = None,
    fix: Fix = None,
    model: Model = None,
) -> None:
    """Cost and referee's verdict of a mapping from anywhere."""
    from mapper.solution import write_whole
    from mapper.verb import evaluate as api

    if mapping is None:
        raise InputError("--mapping", "", "is missing; give the file that holds the mapping")
    solution = api(workload, arch, mapping, objective, read_options(batch, fix, None, None, None, model))
    if output is not None:
        check_writable(output)
        write_whole(output, dumped(solution.to_json()))
    _show(solution, as_json)


@app.command(
    epilog="Example: mapper sweep resnet-dmazerunner/conv5_2 --vary rf.bytes=256,512 --vary spm.bytes=65536,131072"
)
def sweep(
    workload: Workload = None,
    arch: Arch = None,
    vary: Annotated[
        list[str] | None, typer.Option(help="A field of the machine and its values, KEY=V1,V2. Repeatable.")
    ] = None,
    objective: Objective = None,
    method: MethodName = "auto",
    time_limit: TimeLimit = None,
    workers: Workers = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
    log: Log = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the objective over the grid (.png or .svg).")
    ] = None,
    batch: Batch = None,
    fix: Fix = None,
    min_throughput: MinThroughput = None,
    max_pes: MaxPes = None,
    max_buffer: MaxBuffer = None,
    model: Model = None,
) -> None:
    """Solve over a grid of machines."""
    from mapper import terminal
    from mapper.comparison import sweep as api
    from mapper.comparison import varied_values

    if not vary:
        raise InputError("--vary", "", "is missing; give KEY=V1,V2,... with a field of the machine")
    check_writable(plot)
    options = read_options(batch, fix, min_throughput, max_pes, max_buffer, model)
    search = read_search(method, time_limit, workers, seed)
    with interruptible(search), progress_of(1, quiet, log) as report:
        grid = dict(varied_values(text) for text in vary)
        swept = api(workload, arch, grid, objective, options, replace(search, listener=report.progress))
    if plot is not None:
        from mapper.plot import draw_sweep

        draw_sweep(swept, plot)
    if as_json:
        print(dumped(swept.to_json()), end="")
    else:
        terminal.print_table(*terminal.sweep_rows(swept))
    found = any(row.certificate.found for row in swept.rows)
    infeasible = all(row.certificate.proven for row in swept.rows)
    raise typer.Exit(0 if found else 1 if infeasible else 3)


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
    from mapper import terminal
    from mapper.verb import simulate as api

    result = api(solution, seed, rtl, program)
    if as_json:
        print(dumped(result), end="")
    else:
        terminal.print_table(*terminal.simulation_rows(result))
        print("".join(f"{line}\n" for part in result["parts"] for line in part.get("notes", [])), end="")
        weights = result["data"].get("weights")
        own = f", weights of {terminal.plain(weights)}" if weights else ""
        print(f"data: seeded integers, seed {seed}{own}", file=sys.stderr)
    agrees = result["outputs_equal"] and result["agrees"]
    if not agrees:
        print("mapper: the simulation disagrees with the reference or the model", file=sys.stderr)
    raise typer.Exit(0 if agrees else 1)


@app.command(epilog="Example: mapper generate solution.json -o out")
def generate(
    solution: Annotated[Path, typer.Argument(help="A solution written by mapper solve -o.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The folder to write to.")] = None,
    seed: Seed = 0,
) -> None:
    """Write the code that a solution becomes."""
    from mapper.verb import generate as api

    if output is None:
        raise InputError("-o", "", "is missing; give the folder to write to")
    for path in api(solution, output, seed):
        print(path)


@app.command(name="list", epilog="Example: mapper list workloads")
def list_names(
    what: Annotated[Listing, typer.Argument(help="What to list.")],
    as_json: AsJson = False,
) -> None:
    """Names that the other commands take."""
    names = listed_names(what)
    if as_json:
        print(dumped([{"name": name, "description": text} for name, text in names]), end="")
        return
    width = max(len(name) for name, _ in names)
    for name, text in names:
        print(f"{name:{width}}  {text}")


@app.command(epilog="Example: mapper show dmazerunner-256 > mine.yaml")
def show(
    name: Annotated[
        str, typer.Argument(help="A machine, a document or a kernel of the catalogue, or a Snowflake binary.")
    ],
) -> None:
    """A preset as YAML, or a kernel as C, to edit; a Snowflake binary (.snow) as an assembler listing."""
    from mapper.arch.source import preset_text
    from mapper.workloads.catalogue import document_text
    from mapper.workloads.kernel_catalogue import KERNELS, kernel_bytes

    if name.endswith(".snow"):
        from mapper.codegen.trace_partition.listing import listing
        from mapper.models.trace_partition.program_file import load_program

        print(listing(load_program(Path(name))), end="")
        return
    text = preset_text(name) or document_text(name)
    if text is None and name in KERNELS:
        text = kernel_bytes(name).decode()
    if text is None:
        raise InputError("show", name, "is no preset; see mapper list archs and mapper list workloads")
    print(text, end="")


def _trade_offs(
    workload: str | None,
    arch: str | None,
    objective: str | None,
    options: Options,
    search: Search,
    output: Path | None,
    plot: Path | None,
    as_json: bool,
    quiet: bool,
    log: Path | None,
) -> None:
    """All trade-offs instead of one answer."""
    from mapper import terminal
    from mapper.solution import write_whole
    from mapper.trade_off import front

    with interruptible(search), progress_of(1, quiet, log) as report:
        found = front(workload, arch, objective, options, replace(search, listener=report.progress))
    if output is not None:
        write_whole(output, dumped(found.to_json()))
    if plot is not None:
        from mapper.plot import draw_front

        draw_front(found, plot)
    if as_json:
        print(dumped(found.to_json()), end="")
    elif found.points:
        terminal.print_table(*terminal.front_rows(found))
        print("all trade-offs" if found.complete else "not all trade-offs: the search was cut short")
    if not found.points:
        print(f"mapper: {terminal.why_no_front(found)}", file=sys.stderr)
    raise typer.Exit(0 if found.points else 1 if found.complete else 3)


def _show(solution: Solution, as_json: bool) -> None:
    from mapper import terminal

    if as_json:
        print(dumped(solution.to_json()), end="")
    else:
        print(terminal.headline(solution))
        terminal.print_table(*terminal.solution_rows(solution))
        if len(solution.parts) == 1 and solution.parts[0].breakdown is not None:
            print("\n".join(solution.posed.kind.describe(solution.posed.parts[0].problem, solution.parts[0])))
        for line in terminal.skipped_lines(solution):
            print(line)
    if solution.exit_code:
        print(f"mapper: {terminal.cause(solution)}", file=sys.stderr)
    raise typer.Exit(solution.exit_code)
