"""``mapper compare``: methods on one problem, or machines under one network."""

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
    Log,
    MaxBuffer,
    MaxPes,
    MinThroughput,
    Model,
    Objective,
    Quiet,
    Seed,
    StorePath,
    TimeLimit,
    Workers,
    Workload,
    dumped,
    interruptible,
    progress_of,
    read_options,
    read_search,
)
from mapper.workloads.document import InputError

if TYPE_CHECKING:
    from mapper.kind.kind import Options
    from mapper.solving import Search


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
    store: StorePath = None,
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
    search = read_search("auto", time_limit, workers, seed, store)
    if arch is not None and "," in arch:
        if method:
            raise InputError(
                "--method", method[0], "machines side by side are each solved by their own best; leave it out"
            )
        _side_by_side(workload, arch, objective, options, search, as_json, as_csv, as_markdown, quiet, log)
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


def _side_by_side(
    workload: str | None,
    archs: str,
    objective: str | None,
    options: Options,
    search: Search,
    as_json: bool,
    as_csv: bool,
    as_markdown: bool,
    quiet: bool,
    log: Path | None,
) -> None:
    """One network on several machines, a row each."""
    from mapper import machine_table, terminal
    from mapper.side_by_side import side_by_side

    if workload is None:
        raise InputError("WORKLOAD", "", "is missing; name the network that all machines shall run")
    machines = archs.split(",")
    with interruptible(search), progress_of(len(machines), quiet, log) as report:
        listening = replace(search, listener=report.progress)
        found = side_by_side(workload, machines, objective, options, listening, report.machines)
    heading, lines = machine_table.machine_rows(found)
    if as_json:
        print(dumped(found.to_json()), end="")
    elif as_csv:
        print(terminal.as_csv(heading, lines), end="")
    elif as_markdown:
        print(terminal.as_markdown(heading, lines), end="")
    else:
        terminal.print_table(heading, lines)
        print("\n".join(machine_table.warning_lines(found)))
        terminal.print_table(*machine_table.layer_rows(found))
    mapped = any(row.certificate.found for row in found.rows)
    infeasible = any(row.certificate.proven and not row.certificate.found for row in found.rows)
    raise typer.Exit(0 if mapped else 1 if infeasible else 3)
