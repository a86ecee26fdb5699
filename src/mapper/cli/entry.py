"""Where the program starts: every failure is one line and an exit code.

Little is imported before signals are answered: what is imported before that dies of them.
"""

from __future__ import annotations

import sys

from mapper.cli.interruption import heed_signals, ignore_signals


def main() -> None:
    """Run the command line; every failure is one line and an exit code. Signals are the program's business: who calls
    this from another program keeps its own ways with them."""
    program = vars(sys.modules["__main__"]).get("main") is main
    if program:
        heed_signals()
    from mapper.api.time_limit import begin_command
    from mapper.cli.command_line import run

    begin_command()
    if len(sys.argv) == 1:
        sys.argv.append("--help")
    code = run(program)
    if program:
        ignore_signals()
    sys.exit(code)
