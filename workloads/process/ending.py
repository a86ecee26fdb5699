"""What is to be done before this process ends at once, wherever it is: children end, temporary files go.

Whoever starts children or makes temporary files registers how to end them; the program does it when a signal ends it
(`mapper.cli.interruption`). What ends in another way is cleared by the blocks that made it, or, after SIGKILL, by the
kernel (`child_process`) and by the next start (`temporary`).
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing would be the first thing of any size that the program imports

if TYPE_CHECKING:
    from collections.abc import Callable

_FIRST: list[Callable[[], None]] = []
_LAST: list[Callable[[], None]] = []


def at_the_end(task: Callable[[], None]) -> Callable[[], None]:
    """Have ``task`` run before the process ends at once. It runs in a signal handler, while other threads go on: it
    takes no lock that they may hold and expects what it looks at to change."""
    _FIRST.append(task)
    return task


def at_the_very_end(task: Callable[[], None]) -> Callable[[], None]:
    """Have ``task`` run when those of ``at_the_end`` are done: files go when nobody writes them any more."""
    _LAST.append(task)
    return task


def clear() -> None:
    """Run every task; what one raises keeps no other from running."""
    for task in (*_FIRST, *_LAST):
        try:  # noqa: SIM105 - contextlib is not imported here either
            task()
        except Exception:
            pass
