"""``mapper sweep``: a problem over a grid of machines."""

from __future__ import annotations

import math
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from mapper.interruption import interruptible
from mapper.option import AsJson, Engine, MethodName, check_plot, dumped
from mapper.option_group import PosedProblem, ProgressOptions, SearchOptions, grouped
from mapper.workloads.document import InputError


@grouped
def sweep(
    problem: PosedProblem,
    *,
    vary: Annotated[
        list[str] | None, typer.Option(help="A field of the machine and its values, KEY=V1,V2. Repeatable.")
    ] = None,
    method: MethodName = "auto",
    how: SearchOptions,
    as_json: AsJson = False,
    progress: ProgressOptions,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the objective over the grid (.png or .svg).")
    ] = None,
    engine: Annotated[
        Engine, typer.Option(help="Solve here, or each machine as a task of dask.distributed.")
    ] = (Engine.local),
    scheduler: Annotated[
        str | None,
        typer.Option(
            help="Address of a Dask scheduler. Without one, a cluster of processes here.", metavar="ADDRESS"
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what the sweep would take, from a few of its machines.")
    ] = False,
) -> None:
    """Solve over a grid of machines."""
    from mapper.planning import plan as planned
    from mapper.sweep_table import plan_lines, sweep_rows
    from mapper.sweeping import sweep as api
    from mapper.sweeping import varied_values
    from mapper.terminal import print_table, why_nothing

    if not vary:
        raise InputError("--vary", "", "is missing; give KEY=V1,V2,... with a field of the machine")
    check_plot(plot)
    search = how.search(method)
    if scheduler is not None and engine is Engine.local:
        raise InputError("--scheduler", scheduler, "is for --engine dask; add that")
    grid = dict(varied_values(text) for text in vary)
    if dry_run:
        found = planned(problem.workload, problem.arch, grid, problem.objective, problem.options, search)
        lines = plan_lines(found, search.used_workers)
        print(dumped(found.to_json()) if as_json else "".join(f"{line}\n" for line in lines), end="")
        raise typer.Exit(0)
    machines = math.prod(len(values) for values in grid.values())
    with interruptible(search), progress.report(machines) as report, ExitStack() as stack:
        cluster = None
        if engine is Engine.dask:
            from mapper.engine import DaskEngine

            # A cluster takes seconds to come up, and is taken down in order.
            search.begun.set()
            cluster = stack.enter_context(DaskEngine(scheduler, search.used_workers))
        listening = replace(search, listener=report.progress, compiling=report.compiling)
        swept = api(
            problem.workload,
            problem.arch,
            grid,
            problem.objective,
            problem.options,
            listening,
            cluster,
            report.machines,
        )
    if as_json:
        print(dumped(swept.to_json()), end="")
    else:
        print_table(*sweep_rows(swept))
    if plot is not None and swept.rows:
        from mapper.plot import draw_sweep

        draw_sweep(swept, plot)
    some = any(row.certificate.found for row in swept.rows)
    infeasible = len(swept.rows) == machines and all(row.certificate.proven for row in swept.rows)
    if not some:
        why = why_nothing(problem.workload, infeasible, search.interrupt.is_set())
        print(f"mapper: {why}", file=sys.stderr)
    raise typer.Exit(0 if some else 1 if infeasible else 3)
