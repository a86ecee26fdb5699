"""``mapper sweep``: a problem over a grid of machines."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mapper.cli.interruption import interruptible
from mapper.cli.option import Engine, MethodName, check_plot, dumped
from mapper.cli.option_group import ProblemOptions, ProgressOptions, SearchOptions, TableFormat, grouped
from mapper.workloads.document import InputError

if TYPE_CHECKING:
    from mapper.api.search import Search


@grouped
def sweep(
    problem: ProblemOptions,
    *,
    vary: Annotated[
        list[str] | None, typer.Option(help="A field of the machine and its values, KEY=V1,V2. Repeatable.")
    ] = None,
    method: MethodName = "auto",
    how: SearchOptions,
    table: TableFormat,
    progress: ProgressOptions,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the objective over the grid (.png or .svg).")
    ] = None,
    engine: Annotated[
        Engine, typer.Option(help="Solve in this process, or each machine as a task of dask.distributed.")
    ] = (Engine.local),
    scheduler: Annotated[
        str | None,
        typer.Option(help="Address of a Dask scheduler. Default: start a local cluster.", metavar="ADDRESS"),
    ] = None,
    pareto: Annotated[
        bool,
        typer.Option("--pareto", help="Of the machines, those that none with as few bytes on chip equals."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Estimate the cost of the sweep from a few of its machines.")
    ] = False,
) -> None:
    """Solve a workload on a grid of machines."""
    with progress.reading():
        from mapper.cli.sweep_table import sweep_rows
        from mapper.cli.terminal import complain, say, why_nothing
        from mapper.models.plain import in_time
        from mapper.sweeping.sweep import grid as machines_of
        from mapper.sweeping.sweep import swept, varied_values

    if not vary:
        raise InputError("--vary", "", "is missing; give KEY=V1,V2,... with a field of the machine")
    check_plot(plot)
    search = how.search(method)
    if scheduler is not None and engine is Engine.local:
        raise InputError("--scheduler", scheduler, "is for --engine dask; add that")
    grid = dict(varied_values(text) for text in vary)
    if pareto:
        if dry_run or engine is not Engine.local:
            remedy = "a front is found in one go; leave out --dry-run and --engine"
            raise InputError("--pareto", "", remedy)
        _front(problem, grid, search, table, progress, plot)
    if dry_run:
        _plan(problem, grid, search, table)
    with interruptible(search), ExitStack() as stack:
        posed = (problem.workload, problem.arch, grid, problem.objective, problem.options)
        with progress.reading():
            points, problems = in_time(lambda: machines_of(*posed), search.stopped)
        report = stack.enter_context(progress.report(len(points)))
        cluster = None
        if engine is Engine.dask:
            from mapper.api.time_limit import OutOfTimeError, ended_by_alarm
            from mapper.sweeping.engine import DaskEngine

            # A cluster takes seconds to come up, and is taken down in order. Where the limit passes before that, what
            # the store has is looked up here.
            search.begun.set()
            with suppress(OutOfTimeError), ended_by_alarm(search):
                cluster = stack.enter_context(DaskEngine(scheduler, search.used_workers))
        listening = replace(search, listener=report.progress, compiling=report.compiling)
        found = swept(points, problems, listening, cluster, report.machines)
    is_read = table.print(found.to_json(), *sweep_rows(found, problem.options.model), problem.objective)
    if is_read and len(found.posed.parts) > 1:
        say(f"mapping: of the layer with most of the {found.posed.objective}")
    if plot is not None:
        from mapper.cli.plot import draw_sweep

        draw_sweep(found, plot)
    some = any(row.certificate.found for row in found.rows)
    infeasible = len(found.rows) == len(points) and all(row.certificate.proven for row in found.rows)
    if not some:
        why = why_nothing(problem.workload, infeasible, search, search.time_limit is not None)
        complain(f"mapper: {why}")
    raise typer.Exit(0 if some else 1 if infeasible else 3)


def _plan(problem: ProblemOptions, grid: dict[str, list[Any]], search: Search, table: TableFormat) -> None:
    """What the sweep would take, instead of solving it."""
    from mapper.cli.sweep_table import plan_lines
    from mapper.cli.terminal import say
    from mapper.sweeping.planning import plan as planned

    plan = planned(problem.workload, problem.arch, grid, problem.objective, problem.options, search)
    if table.as_json:
        print(dumped(plan.to_json()), end="")
    else:
        say(*plan_lines(plan, search.used_workers))
    raise typer.Exit(0)


def _front(
    problem: ProblemOptions,
    grid: dict[str, list[Any]],
    search: Search,
    table: TableFormat,
    progress: ProgressOptions,
    plot: Path | None,
) -> None:
    """The machines that trade bytes on chip for the objective, instead of all."""
    from mapper.cli.sweep_table import design_rows
    from mapper.cli.terminal import complain, say, why_nothing
    from mapper.models.plain import in_time
    from mapper.sweeping.co_design import swept_front
    from mapper.sweeping.sweep import grid as machines_of

    posed = (problem.workload, problem.arch, grid, problem.objective, problem.options)
    with interruptible(search):
        points, problems = in_time(lambda: machines_of(*posed), search.stopped)
        with progress.report(len(points)) as report:
            listening = replace(search, listener=report.progress, compiling=report.compiling)
            found = swept_front(points, problems, listening, report.machines)
    is_read = table.print(found.to_json(), *design_rows(found), found.posed.objective.name)
    if is_read and found.points:
        whole = "all of the front" if found.complete else "not proven to be all of the front"
        say(f"{len(found.points)} of {len(points)} machines, {whole}")
    if plot is not None:
        from mapper.cli.plot import draw_designs

        draw_designs(found, plot)
    if not found.points:
        complain(
            f"mapper: {why_nothing(problem.workload, found.complete, search, search.time_limit is not None)}"
        )
    raise typer.Exit(0 if found.points else 1 if found.complete else 3)
