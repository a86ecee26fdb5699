"""The reference of the command line, made from the commands themselves: ``python -m docs.site.command_reference``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from mapper.cli.app import EXIT_CODES, app

PAGE = Path(__file__).parents[1] / "cli.md"
HEAD = """# Command line

Made from the commands themselves by `python -m docs.site.command_reference`; do not edit.

**Ctrl-C**, SIGTERM and SIGHUP end a search with what it has found: exit code 0 and the mark `interrupted`, or exit code
3 if it has found nothing. Before a search begins, and in commands without one, they end the program at once with exit
code 3 and one line. A second signal does so at any time. A document that is being printed is completed first. No
process and no temporary folder outlives the program, however it ends; after SIGKILL, the next start cleans up. Under
`nohup`, SIGHUP is ignored. (Signals during the interpreter's own start, about 20 ms, cannot be handled.)

**Files** are written whole or not at all. An existing file is replaced in one step and keeps its permissions; a
symbolic link stays, and the file it points to is replaced. A pipe, a device or a socket is written to once. With `-o
/dev/stdout` only the document is printed. If writing a file fails in the end (for example because the disk is full),
the answer is printed nevertheless, and the exit code is 2.

"""
EXITS = f"Exit codes: {EXIT_CODES}.\n"


def commands(group: Any, words: tuple[str, ...] = ("mapper",)) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command of a group and of the groups in it, with the words that call it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*words, name))
        else:
            yield (*words, name), command


def option_names(command: Any) -> list[str]:
    """Every way to write an option of a command."""
    return [name for option in command.params if is_option(option) for name in option.opts]


def is_option(parameter: Any) -> bool:
    return any(name.startswith("-") for name in parameter.opts)


def reference() -> str:
    """The whole page."""
    root = typer.main.get_command(app)
    return HEAD + EXITS + "".join(section(words, command) for words, command in commands(root))


def section(words: tuple[str, ...], command: Any) -> str:
    """One command: what it does, how it is called, its arguments and options, an example."""
    context = typer.Context(command, info_name=" ".join(words))
    usage = " ".join([*words, *command.collect_usage_pieces(context)])
    example = str(command.epilog or "").removeprefix("Example: ")
    lines = [f"\n## {' '.join(words)}", "", str(command.help), "", "```text", usage, "```"]
    if command.params:
        lines += ["", "| | |", "|---|---|"]
        lines += [row(parameter, context) for parameter in command.params]
    if example:
        lines += ["", "Example:", "", "```text", example, "```"]
    return "\n".join(lines) + "\n"


def row(parameter: Any, context: Any) -> str:
    """One argument or option as a row of a table."""
    names, text = parameter.get_help_record(context)
    return f"| `{cell(names)}` | {cell(text)} |"


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> None:
    PAGE.write_text(reference(), encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
