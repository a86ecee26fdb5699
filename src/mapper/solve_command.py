"""``mapper solve`` and ``mapper evaluate``: commands that answer with a solution."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mapper.option import AsJson, FrontPlot, MethodName, Output, Pareto, check_writable, dumped, interruptible
from mapper.option_group import MappedProblem, PosedProblem, ProgressOptions, SearchOptions, grouped
from mapper.workloads.document import InputError

if TYPE_CHECKING:
    from mapper.solution import Solution
    from mapper.solving import Search


@grouped
def solve(
    problem: PosedProblem,
    *,
    method: MethodName = "auto",
    how: SearchOptions,
    output: Output = None,
    as_json: AsJson = False,
    progress: ProgressOptions,
    pareto: Pareto = False,
    plot: FrontPlot = None,
) -> None:
    """Map a workload to a machine, and prove the mapping optimal."""
    from mapper.posing import pose
    from mapper.solution import write_whole
    from mapper.solving import run

    search = how.search(method)
    check_writable(output)
    check_writable(plot)
    if pareto:
        _trade_offs(problem, search, progress, output, plot, as_json)
    if plot is not None:
        raise InputError("--plot", str(plot), "draws trade-offs; give --pareto too")
    with interruptible(search):
        posed = pose(problem.workload, problem.arch, problem.objective, problem.options)
        with progress.report(len(posed.parts)) as report:

            def finished(solution: Solution) -> None:
                report.finished(solution)
                if output is not None:
                    write_whole(output, dumped(solution.to_json()))

            solution = run(posed, replace(search, listener=report.progress), finished)
    if output is not None:
        write_whole(output, dumped(solution.to_json()))
    _show(solution, as_json)


@grouped
def evaluate(
    problem: MappedProblem,
    *,
    mapping: Annotated[Path | None, typer.Option(help="A mapping or a solution, as JSON or YAML.")] = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Cost and referee's verdict of a mapping from anywhere."""
    from mapper.solution import write_whole
    from mapper.verb import evaluate as api

    if mapping is None:
        raise InputError("--mapping", "", "is missing; give the file that holds the mapping")
    solution = api(problem.workload, problem.arch, mapping, problem.objective, problem.options)
    if output is not None:
        check_writable(output)
        write_whole(output, dumped(solution.to_json()))
    _show(solution, as_json)


def _trade_offs(
    problem: PosedProblem,
    search: Search,
    progress: ProgressOptions,
    output: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """All trade-offs instead of one answer."""
    from mapper import terminal
    from mapper.solution import write_whole
    from mapper.trade_off import front

    with interruptible(search), progress.report(1) as report:
        listening = replace(search, listener=report.progress)
        found = front(problem.workload, problem.arch, problem.objective, problem.options, listening)
    if output is not None:
        write_whole(output, dumped(found.to_json()))
    if plot is not None:
        from mapper.plot import draw_front

        draw_front(found, plot)
    if as_json:
        print(dumped(found.to_json()), end="")
    elif found.points:
        terminal.print_table(*terminal.front_rows(found))
        terminal.say("all trade-offs" if found.complete else "not all trade-offs: the search was cut short")
    if not found.points:
        terminal.complain(f"mapper: {terminal.why_no_front(found)}")
    raise typer.Exit(0 if found.points else 1 if found.complete else 3)


def _show(solution: Solution, as_json: bool) -> None:
    from mapper import terminal

    if as_json:
        print(dumped(solution.to_json()), end="")
    else:
        terminal.say(terminal.headline(solution))
        terminal.print_table(*terminal.solution_rows(solution))
        if len(solution.parts) == 1 and solution.parts[0].breakdown is not None:
            terminal.say(*solution.posed.kind.describe(solution.posed.parts[0].problem, solution.parts[0]))
        terminal.say(*terminal.skipped_lines(solution), *terminal.started_lines(solution))
    if solution.exit_code:
        terminal.complain(f"mapper: {terminal.cause(solution)}")
    raise typer.Exit(solution.exit_code)
