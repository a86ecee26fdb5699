"""One command, run to its end: what it prints comes whole or not at all, every failure is one line and an exit code."""

from __future__ import annotations

import io
import os
import re
import sys
from contextlib import redirect_stdout, suppress
from functools import cache
from typing import Any

import typer

from mapper.cli.app import UsageError, app
from mapper.cli.interruption import NOTHING, answer_begins
from mapper.models.limit import UndecidedError, UnfinishedError
from mapper.solver.contradiction import ContradictionError
from mapper.workloads.document import InputError
from mapper.workloads.process.temporary import remove_abandoned
from mapper.workloads.process.whole_file import write_all
from mapper.workloads.text.nearest import meant
from mapper.workloads.text.plain_text import plain

LONGEST_LINE = 650


class _Held(io.StringIO):
    """What a command prints, held back until it ends; for the rest it looks like the stream that it stands for."""

    def __init__(self, stream: Any) -> None:
        super().__init__()
        self._stream = stream

    def isatty(self) -> bool:
        return self._stream is not None and not self._stream.closed and bool(self._stream.isatty())

    def fileno(self) -> int:
        return int(self._stream.fileno())

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self._stream, "encoding", None) or "utf-8"


def run(program: bool) -> int:
    """Run the command that ``sys.argv`` says; its exit code. As the ``program`` it answers signals, which shall not cut
    short what is printed in the end."""
    remove_abandoned()
    stdout = sys.stdout
    with redirect_stdout(_Held(stdout)) as held:
        code, line = _tried()
    if program:
        answer_begins()
    if stdout is not None:
        try:
            _print(held.getvalue(), stdout, program)
        except BrokenPipeError:
            # Who read has read enough. Nothing must be left in the buffer, which is flushed once more at the end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())
            code, line = code or 2, line or f"stdout: cannot be written ({error.strerror}); give -o a file"
    if line is not None:
        with suppress(OSError):
            print("mapper: " + plain(" ".join(line.split()), LONGEST_LINE), file=sys.stderr, flush=True)
    return code


def _print(text: str, stdout: Any, program: bool) -> None:
    """Raises: OSError if it cannot be printed."""
    data = text.encode(stdout.encoding or "utf-8", "replace")
    stdout.flush()
    if program:
        # Not through the stream: without a buffer (python -u) it loses what a signal keeps it from writing at once.
        write_all(stdout.fileno(), data)
    else:
        stdout.write(data.decode(stdout.encoding or "utf-8"))
        stdout.flush()


def _usage(message: str) -> str:
    """What is wrong with the words of a command, and what may have been meant by one that is none of several."""
    message = message.replace("Value error, ", "")
    choice = re.search(r"'([^']*)' is not one of (.*)", message)
    return message if choice is None else meant(choice[1], re.findall(r"'([^']*)'", choice[2])) + message


@cache
def _commands() -> Any:
    """All commands with their options: who calls several from one process waits for them once."""
    return typer.main.get_command(app)


def _tried() -> tuple[int, str | None]:
    """The exit code, and what went wrong in a line."""
    try:
        code = _commands()(standalone_mode=False)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0, None
    except InputError as error:
        return 2, str(error)
    except UsageError as error:
        where = f"{error.ctx.command_path}: " if error.ctx else ""
        return 2, f"{where}{_usage(error.format_message())} (see --help)"
    except ContradictionError as error:
        from mapper.cli.contradiction_file import told

        return told(error, None), None
    except (typer.Abort, KeyboardInterrupt):
        return 3, NOTHING
    except UndecidedError as error:
        return 3, str(error)
    except UnfinishedError as error:
        over = str(error) == "time_limit"
        return 3, "no answer within the limit; raise --time-limit" if over else NOTHING
    except BrokenPipeError:
        return 0, None
    except MemoryError:
        return 3, "out of memory; try a smaller workload or another --method"
    except Exception as error:
        # A fault of mapper itself is still one line for whoever only wanted a mapping.
        return 3, f"internal error ({type(error).__name__}: {error}); please report it with the command"
    return (code if isinstance(code, int) else 0), None
