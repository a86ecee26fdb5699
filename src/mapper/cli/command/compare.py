"""``mapper compare``: methods on one problem, or machines under one network."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mapper.cli.interruption import interruptible
from mapper.cli.option_group import ProblemOptions, ProgressOptions, SearchOptions, TableFormat, grouped
from mapper.workloads.document import InputError

if TYPE_CHECKING:
    from mapper.api.search import Search


@grouped
def compare(
    problem: ProblemOptions,
    *,
    method: Annotated[list[str] | None, typer.Option(help="Only these methods. Repeatable.")] = None,
    mapping: Annotated[
        Path | None, typer.Option(help="A mapping from elsewhere, to stand beside the methods.")
    ] = None,
    how: SearchOptions,
    table: TableFormat,
    progress: ProgressOptions,
) -> None:
    """Run every method that fits: value, distance from the proven optimum and seconds, side by side."""
    with progress.reading():
        from mapper.api.comparison import compare as api
        from mapper.api.solving import method_named
        from mapper.cli import terminal
        from mapper.cli.table import room
        from mapper.kind.text_table import within

        search = how.search("auto")
    if problem.arch is not None and "," in problem.arch:
        if method:
            raise InputError(
                "--method",
                method[0],
                "machines side by side are each solved by their default method; leave it out",
            )
        if mapping is not None:
            raise InputError("--mapping", str(mapping), "is for one machine; leave the others out")
        _side_by_side(problem, problem.arch.split(","), search, progress, table)
    if method:
        from mapper.api.problem import pose

        posed = pose(problem.workload, problem.arch, problem.objective, problem.options)
        for name in method:
            method_named(posed, name)
    with interruptible(search), progress.report(1) as report:
        listening = replace(search, listener=report.progress, compiling=report.compiling)
        comparison = api(
            problem.workload,
            problem.arch,
            problem.objective,
            problem.options,
            listening,
            method,
            mapping=mapping,
        )
    if table.print(comparison.to_json(), *terminal.comparison_rows(comparison)):
        with within(room(table.wide)):
            terminal.say(*comparison.remarks)
        for name, reason in comparison.refused.items():
            terminal.complain(f"{name} does not fit: {reason}")
    found = any(row.certificate.found for row in comparison.rows)
    infeasible = any(row.certificate.proven and not row.certificate.found for row in comparison.rows)
    if not found:
        why = terminal.why_nothing(problem.workload, infeasible, search, True)
        terminal.complain(f"mapper: {why}")
    raise typer.Exit(0 if found else 1 if infeasible else 3)


def _side_by_side(
    problem: ProblemOptions,
    machines: list[str],
    search: Search,
    progress: ProgressOptions,
    table: TableFormat,
) -> None:
    """One network on several machines, a row each."""
    from mapper.api.side_by_side import side_by_side
    from mapper.cli import machine_table, terminal
    from mapper.cli.table import print_table, room
    from mapper.kind.text_table import within

    if problem.workload is None:
        raise InputError("WORKLOAD", "", "is missing; name the network that all machines are to run")
    with interruptible(search), progress.report(len(machines)) as report:
        listening = replace(search, listener=report.progress, compiling=report.compiling)
        found = side_by_side(
            problem.workload, machines, problem.objective, problem.options, listening, report.machines
        )
    if table.print(found.to_json(), *machine_table.machine_rows(found)):
        with within(room(table.wide)):
            terminal.say(*machine_table.warning_lines(found))
        print_table(*machine_table.layer_rows(found), wide=table.wide)
    mapped = any(row.certificate.found for row in found.rows)
    # Of machines that cannot run the network nothing is proven, and none is known of those that had no turn.
    posed = [row.certificate for row in found.rows if row.solution is not None]
    infeasible = len(found.rows) == len(machines) and all(certificate.proven for certificate in posed)
    if not mapped:
        why = terminal.why_nothing(problem.workload, infeasible, search, True)
        terminal.complain(f"mapper: {why}")
    raise typer.Exit(0 if mapped else 1 if infeasible else 3)
