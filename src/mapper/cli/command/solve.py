"""``mapper solve`` and ``mapper evaluate``: commands that answer with a solution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mapper.cli.interruption import interruptible
from mapper.cli.option import (
    AsJson,
    CertificateFile,
    FrontPlot,
    MethodName,
    Output,
    Pareto,
    Wide,
    check_plot,
    check_writable,
    dumped,
)
from mapper.cli.option_group import MappedProblem, ProblemOptions, ProgressOptions, SearchOptions, grouped
from mapper.solver.contradiction import ContradictionError
from mapper.workloads.document import InputError

if TYPE_CHECKING:
    from mapper.api.search import Search
    from mapper.api.solution import Solution


@grouped
def solve(
    problem: ProblemOptions,
    *,
    method: MethodName = "auto",
    how: SearchOptions,
    output: Output = None,
    certificate: CertificateFile = None,
    as_json: AsJson = False,
    progress: ProgressOptions,
    pareto: Pareto = False,
    plot: FrontPlot = None,
    wide: Wide = False,
) -> None:
    """Map a workload to a machine, and prove the mapping optimal."""
    with progress.reading():
        from mapper.api.problem import pose
        from mapper.api.solving import run
        from mapper.cli.table import import_tables
        from mapper.models.plain import in_time
        from mapper.workloads.process.whole_file import is_replaced, write_whole

        search = how.search(method)
    check_writable(output)
    check_writable(certificate, "--certificate")
    check_plot(plot)
    if certificate is not None and pareto:
        raise InputError("--certificate", str(certificate), "is for one answer; leave out --pareto")
    if pareto:
        _trade_offs(problem, search, progress, output, plot, as_json, wide)
    if plot is not None:
        raise InputError("--plot", str(plot), "draws trade-offs; give --pareto too")
    notes: list[str] = []
    if search.time_limit is not None and not as_json:
        import_tables()
    with interruptible(search), contradictions_beside(output):
        with progress.reading():
            posed = in_time(
                lambda: pose(problem.workload, problem.arch, problem.objective, problem.options),
                search.stopped,
            )
        with progress.report(len(posed.parts)) as report:

            def finished(solution: Solution) -> None:
                report.finished(solution)
                if output is not None and is_replaced(output):
                    # A disk that is full now may have room at the end; if not, it is said then.
                    with suppress(InputError):
                        write_whole(output, dumped(solution.to_json()), "-o")

            solution = run(
                posed, replace(search, listener=report.progress, compiling=report.compiling), finished
            )
        if certificate is not None:
            from mapper.proving.certified import certified

            found = certified(solution, certificate, search)
            solution, notes = found.solution, found.lines(certificate)
    _answer(solution, output, as_json, wide, notes)


@grouped
def evaluate(
    problem: MappedProblem,
    *,
    mapping: Annotated[Path | None, typer.Option(help="A mapping or a solution, as JSON or YAML.")] = None,
    output: Output = None,
    as_json: AsJson = False,
    wide: Wide = False,
) -> None:
    """Cost a mapping from any source and have the referee check it."""
    from mapper.api.verb import evaluate as api

    if mapping is None:
        raise InputError("--mapping", "", "is missing; give the file that holds the mapping")
    check_writable(output)
    solution = api(problem.workload, problem.arch, mapping, problem.objective, problem.options)
    _answer(solution, output, as_json, wide)


@contextmanager
def contradictions_beside(output: Path | None) -> Iterator[None]:
    """End the command with both documents beside ``output`` where answers contradict each other."""
    try:
        yield
    except ContradictionError as error:
        from mapper.cli.contradiction_file import told

        raise typer.Exit(told(error, output)) from None


def _trade_offs(
    problem: ProblemOptions,
    search: Search,
    progress: ProgressOptions,
    output: Path | None,
    plot: Path | None,
    as_json: bool,
    wide: bool,
) -> None:
    """All trade-offs instead of one answer."""
    from mapper.api.trade_off import front
    from mapper.cli import terminal
    from mapper.cli.table import print_table

    with interruptible(search), contradictions_beside(output), progress.report(1) as report:
        listening = replace(search, listener=report.progress, compiling=report.compiling)
        found = front(problem.workload, problem.arch, problem.objective, problem.options, listening)
    document = dumped(found.to_json())
    if not _is_on_stdout(document, output, as_json) and found.points:
        print_table(*terminal.front_rows(found), found.posed.objective.name, wide)
        terminal.say("all trade-offs" if found.complete else "not all trade-offs: the search was cut short")
    _write(document, output)
    if plot is not None:
        from mapper.cli.plot import draw_front

        draw_front(found, plot)
    if not found.points:
        terminal.complain(f"mapper: {terminal.why_no_front(found, search)}")
    raise typer.Exit(0 if found.points else 1 if found.complete else 3)


def _answer(
    solution: Solution, output: Path | None, as_json: bool, wide: bool, notes: Sequence[str] = ()
) -> None:
    """Print the answer, then write it: a full disk costs the file and not the answer."""
    from mapper.cli import terminal
    from mapper.cli.table import print_table, room
    from mapper.kind.text_table import within
    from mapper.models.plain import limited

    if (line := terminal.passed_over(solution)) is not None:
        terminal.complain(line)
    # What is there is shown at once: nothing of it waits for machine code.
    with limited(lambda: None), within(room(wide)):
        document = dumped(solution.to_json())
        if not _is_on_stdout(document, output, as_json):
            terminal.say(str(solution.posed))
            print_table(*terminal.solution_rows(solution), solution.posed.objective.name, wide)
            if len(solution.parts) == 1 and solution.parts[0].breakdown is not None:
                terminal.say(
                    *solution.posed.kind.describe(solution.posed.parts[0].problem, solution.parts[0])
                )
            if len(solution.parts) > 1:
                problems = (one.problem for one in solution.posed.parts)
                terminal.say(
                    *solution.posed.kind.describe_all(list(zip(problems, solution.parts, strict=True)))
                )
            terminal.say(*terminal.skipped_lines(solution), *terminal.started_lines(solution), *notes)
        _write(document, output)
        if solution.exit_code:
            terminal.complain(f"mapper: {terminal.cause(solution)}")
    raise typer.Exit(solution.exit_code)


def _is_on_stdout(document: str, output: Path | None, as_json: bool) -> bool:
    """Print the document if that is what stdout is for, as with ``-o /dev/stdout``, which is then all that it gets."""
    from mapper.workloads.process.whole_file import is_stdout

    if not as_json and not (output is not None and is_stdout(output)):
        return False
    print(document, end="")
    return True


def _write(document: str, output: Path | None) -> None:
    from mapper.workloads.process.whole_file import is_stdout, write_whole

    if output is not None and not is_stdout(output):
        write_whole(output, document, "-o")
