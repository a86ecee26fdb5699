"""``mapper solve`` and ``mapper evaluate``: commands that answer with a solution."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mapper.option import (
    Arch,
    AsJson,
    Batch,
    Fix,
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
    StorePath,
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
    store: StorePath = None,
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
    search = read_search(method, time_limit, workers, seed, store)
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
        for line in terminal.skipped_lines(solution) + terminal.started_lines(solution):
            print(line)
    if solution.exit_code:
        print(f"mapper: {terminal.cause(solution)}", file=sys.stderr)
    raise typer.Exit(solution.exit_code)
