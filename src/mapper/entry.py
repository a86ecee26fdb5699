"""Where the program starts: every failure is one line and an exit code."""

from __future__ import annotations

import sys
from typing import Any

import typer

from mapper.cli import app
from mapper.workloads.document import InputError
from mapper.workloads.plain_text import plain

LONGEST_LINE = 650

# The base of all wrong usage; typer does not export it under a name of its own.
UsageError: Any = typer.BadParameter.__bases__[0]


def main() -> None:
    """Run the command line; every failure is one line and an exit code."""
    if len(sys.argv) == 1:
        sys.argv.append("--help")
    try:
        code = app(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except InputError as error:
        _fail(str(error), 2)
    except UsageError as error:
        where = f"{error.ctx.command_path}: " if error.ctx else ""
        _fail(f"{where}{error.format_message()} (see --help)", 2)
    except (typer.Abort, KeyboardInterrupt):
        _fail("interrupted before anything was found", 3)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except MemoryError:
        _fail("out of memory; try a smaller workload or another --method", 3)
    except Exception as error:
        # A fault of mapper itself is still one line for whoever only wanted a mapping.
        _fail(f"internal error ({type(error).__name__}: {error}); please report it with the command", 3)


def _fail(line: str, code: int) -> None:
    print("mapper: " + plain(" ".join(line.split()), LONGEST_LINE), file=sys.stderr)
    sys.exit(code)
