"""Progress of a search: a bar on a terminal, JSON lines in a log."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from mapper.kind.cell import number, percent
from mapper.workloads.document import InputError
from mapper.workloads.process.whole_file import open_stream
from mapper.workloads.text.plain_text import plain

if TYPE_CHECKING:
    from mapper.api.solution import Solution
    from mapper.models.limit import Standing
    from mapper.solver.method import Progress


COMPILING = "compiling code (once per computer and version)"
REFUSED = "cannot be compiled, and runs as plain Python, far slower; please report it with the command"
SECONDS_TO_HINT = 5.0
"""After which a search says how it can be ended."""


READING = "reading what there is to solve"
CLEAR = "\r\x1b[K"
"""What takes back the line that is being written."""


@contextmanager
def reading(quiet: bool) -> Iterator[None]:
    """Something is on the screen at once where it is a terminal, before libraries that draw bars are there."""
    shows = sys.stderr.isatty() and not quiet
    if shows:
        print(READING, end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if shows:
            print(CLEAR, end="", file=sys.stderr, flush=True)


def standing(progress: Progress, gap: float | None) -> str:
    """What a search has and what is left, in a line."""
    bound = "" if progress.bound is None else f", bound {number(progress.bound)}"
    if progress.value is None:
        tried = f", {progress.evaluations:,} tried" if progress.evaluations else ""
        so_far = f"nothing found yet{bound}{tried}"
    else:
        so_far = f"best {number(progress.value)}{bound}" + ("" if gap is None else f", gap {percent(gap)}")
    return so_far if progress.doing is None else f"{so_far}; {progress.doing}"


class ProgressReport(AbstractContextManager["ProgressReport"]):
    """Progress on stderr where that is a terminal, and as JSON lines in a log file."""

    def __init__(self, parts: int, quiet: bool, log: Path | None) -> None:
        self._parts, self._log_path = parts, log
        self._log: IO[str] | None = None
        self._bar: Any = None
        self._task: Any = None
        self._compiling: Any = None
        self._show = sys.stderr.isatty() and not quiet
        self._began = time.monotonic()
        self._writing = threading.Lock()
        self._refused: set[str] = set()

    def __enter__(self) -> ProgressReport:
        if self._log_path is not None:
            self._log = open_stream(self._log_path, "--log")
        if self._show:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=12),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(READING, total=self._parts)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            with suppress(OSError):  # the terminal may be gone, the answer is not
                self._bar.stop()
        self._close()

    def progress(self, part: str, progress: Progress) -> None:
        """A search has come further."""
        gap = None
        if progress.value and progress.bound is not None:
            gap = abs(progress.value - progress.bound) / abs(progress.value)
        self._write(
            {
                "event": "progress",
                "part": part,
                "value": progress.value,
                "bound": progress.bound,
                "gap": gap,
                "doing": progress.doing,
            }
        )
        if self._bar is not None:
            has_begun = time.monotonic() - self._began > SECONDS_TO_HINT
            hint = " (Ctrl-C ends and keeps it)" if has_begun and progress.value is not None else ""
            self._bar.update(self._task, description=f"{plain(part, 40)}: {standing(progress, gap)}{hint}")

    def compiling(self, standing: Standing) -> None:
        """A search is slow at first, on a machine that has not run it before: plain Python does what it can."""
        self._write({"event": "compiling", "done": standing.done, "of": standing.asked})
        for name in standing.refused:
            if name not in self._refused:
                self._refused.add(name)
                print(f"mapper: {name}: {REFUSED}", file=sys.stderr)
        if self._bar is None:
            return
        if self._compiling is None:
            self._compiling = self._bar.add_task(COMPILING, total=standing.asked)
        self._bar.update(
            self._compiling,
            description=f"{COMPILING}: {standing.function}",
            completed=standing.done,
            total=standing.asked,
            visible=standing.function is not None,
        )

    def finished(self, solution: Solution) -> None:
        """A part is done."""
        done = sum(part.certificate.found or part.certificate.proven for part in solution.parts)
        claim = solution.certificate
        self._done("parts", done, len(solution.parts), {"value": claim.value, "bound": claim.bound})

    def machines(self, done: int, of: int) -> None:
        """A machine of several is done."""
        self._done("machines", done, of, {})

    def _done(self, what: str, done: int, of: int, further: dict[str, Any]) -> None:
        self._write({"event": what, "done": done, "of": of, **further})
        if self._bar is not None:
            self._bar.update(self._task, completed=done)

    def _write(self, event: dict[str, Any]) -> None:
        if self._log is None:
            return
        from mapper.api.solution import as_document

        event = {"seconds": round(time.monotonic() - self._began, 3), **event}
        line = json.dumps(as_document(event)) + "\n"
        # Parts are searched in threads of their own.
        with self._writing:
            if self._log is None:
                return
            try:
                self._log.write(line)
                self._log.flush()
            except OSError as error:
                # A log that ends is no reason to give up the search.
                said = InputError("--log", str(self._log_path), f"ends here ({error.strerror})")
                print(f"mapper: {said}", file=sys.stderr)
                self._close()

    def _close(self) -> None:
        if self._log is not None:
            with suppress(OSError):
                self._log.close()
        self._log = None
