"""Options that belong together: declared once, taken by every command that needs them, and what they become."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from mapper.api.limit import LARGEST_BATCH
from mapper.cli.option import (
    Arch,
    AsCsv,
    AsJson,
    AsMarkdown,
    Batch,
    Define,
    Dim,
    Fix,
    Include,
    Log,
    MaxBuffer,
    MaxLatency,
    MaxPes,
    MinThroughput,
    Model,
    Objective,
    Quiet,
    Seed,
    StorePath,
    TimeLimit,
    Wide,
    WithoutPass,
    WithPass,
    Workers,
    Workload,
    dumped,
    store_at,
)
from mapper.workloads.document import InputError

if TYPE_CHECKING:
    from mapper.api.search import Search
    from mapper.cli.progress import ProgressReport
    from mapper.kind.part import Options


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """``command`` as typer reads it: a parameter that is a group (a dataclass) becomes the options in it."""
    own = inspect.signature(command, eval_str=True).parameters
    groups = {
        name: _members(parameter) for name, parameter in own.items() if is_dataclass(parameter.annotation)
    }
    options = [option for name in own for option in groups.get(name, [own[name]])]

    @functools.wraps(command)
    def ungrouped(**given: Any) -> None:
        for name, members in groups.items():
            given[name] = own[name].annotation(**{member.name: given.pop(member.name) for member in members})
        command(**given)

    keyword = inspect.Parameter.KEYWORD_ONLY
    ungrouped.__signature__ = inspect.Signature([option.replace(kind=keyword) for option in options])  # type: ignore[attr-defined]
    ungrouped.__annotations__ = {option.name: option.annotation for option in options}
    return ungrouped


def _members(group: inspect.Parameter) -> list[inspect.Parameter]:
    return list(inspect.signature(group.annotation, eval_str=True).parameters.values())


def _pairs(option: str, texts: list[str] | None, form: str) -> dict[str, str]:
    """What an option that is repeated says, key by key.

    Raises: InputError if one is not of this form, or a key comes twice.
    """
    found: dict[str, str] = {}
    for text in texts or []:
        # Names of ONNX nodes and dimensions may hold anything but the values that follow them.
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InputError(option, text[:60], f"write {form}")
        if key in found:
            raise InputError(option, key[:60], "is given twice")
        found[key] = value
    return found


@dataclass(frozen=True)
class MappedProblem:
    """A problem whose mapping is given."""

    workload: Workload = None
    arch: Arch = None
    objective: Objective = None
    batch: Batch = None
    dim: Dim = None
    fix: Fix = None
    model: Model = None
    include: Include = None
    define: Define = None
    without_pass: WithoutPass = None
    with_pass: WithPass = None

    @property
    def options(self) -> Options:
        from mapper.kind.part import Options
        from mapper.workloads.c.reading import SourceReading

        sized = {}
        for name, size in _pairs("--dim", self.dim, "NAME=SIZE").items():
            if not re.fullmatch(r"[1-9][0-9]{0,9}", size) or int(size) > LARGEST_BATCH:
                raise InputError("--dim", name[:60], f"{size[:20]!r} is no size from 1 to {LARGEST_BATCH}")
            sized[name] = int(size)
        source = SourceReading(
            tuple(self.include or ()),
            tuple(self.define or ()),
            tuple(self.without_pass or ()),
            tuple(self.with_pass or ()),
        )
        fix = _pairs("--fix", self.fix, "KEY=VALUE")
        return Options(self.batch, fix, model=self.model, dim=sized, source=source)


@dataclass(frozen=True)
class ProblemOptions(MappedProblem):
    """A problem whose mapping is sought, within limits."""

    min_throughput: MinThroughput = None
    max_pes: MaxPes = None
    max_buffer: MaxBuffer = None
    max_latency: MaxLatency = None

    @property
    def options(self) -> Options:
        return replace(
            super().options,
            min_throughput=self.min_throughput,
            max_pes=self.max_pes,
            max_buffer=self.max_buffer,
            max_latency=self.max_latency,
        )


@dataclass(frozen=True)
class SearchOptions:
    """How long, how wide and from where to search."""

    time_limit: TimeLimit = None
    workers: Workers = None
    seed: Seed = 0
    store: StorePath = None

    def search(self, method: str) -> Search:
        from mapper.api.search import Search
        from mapper.api.time_limit import command_began
        from mapper.cli import terminal

        told: set[str] = set()

        def complain(reason: str) -> None:
            # A sweep hears of the same full disk at every machine.
            if reason not in told:
                terminal.complain(f"mapper: {reason}")
            told.add(reason)

        store = store_at(self.store)
        return Search(
            method,
            self.time_limit,
            self.workers,
            self.seed,
            started=command_began(),
            store=store,
            complain=complain,
        )


@dataclass(frozen=True)
class ProgressOptions:
    """Where a search tells how far it is."""

    quiet: Quiet = False
    log: Log = None

    def reading(self) -> AbstractContextManager[None]:
        from mapper.cli.progress import reading

        return reading(self.quiet)

    def report(self, parts: int) -> ProgressReport:
        from mapper.cli.progress import ProgressReport

        return ProgressReport(parts, self.quiet, self.log)


@dataclass(frozen=True)
class TableFormat:
    """How a table is printed."""

    as_json: AsJson = False
    as_csv: AsCsv = False
    as_markdown: AsMarkdown = False
    wide: Wide = False

    def print(
        self, document: dict[str, Any], heading: list[str], lines: list[list[str]], sought: str | None = None
    ) -> bool:
        """Print the table, or its document as JSON; whether a person reads it, who may want remarks below. ``sought``:
        the objective, whose figures stay where a terminal has no room for all."""
        from mapper.cli import terminal
        from mapper.cli.table import print_table

        if self.as_json:
            print(dumped(document), end="")
        elif self.as_csv:
            print(terminal.as_csv(heading, lines), end="")
        elif self.as_markdown:
            print(terminal.as_markdown(heading, lines), end="")
        else:
            print_table(heading, lines, sought, self.wide)
            return True
        return False
