"""Run the lessons and render them with their outputs: ``python -m docs.lessons.render -o DIR [--to FORMAT]``."""

from __future__ import annotations

import argparse
from pathlib import Path

import jupytext
from nbclient import NotebookClient
from nbconvert.exporters import Exporter, HTMLExporter, MarkdownExporter, NotebookExporter
from traitlets.config import Config

from docs.lessons import FOLDER, LESSONS

EXPORTERS: dict[str, type[Exporter]] = {
    "markdown": MarkdownExporter,
    "html": HTMLExporter,
    "notebook": NotebookExporter,
}


def render(path: Path, to: str = "markdown") -> str:
    """The page of the lesson in ``path`` (``to``: markdown, html or notebook). Raises: nbclient's CellExecutionError
    if a cell fails."""
    notebook = jupytext.read(path)
    # Files instead of ports between the two processes: nobody else on the machine can listen.
    connection = Config({"ConnectionFileMixin": {"transport": "ipc"}})
    NotebookClient(notebook, timeout=300, kernel_name="python3", config=connection).execute()
    page, _ = EXPORTERS[to]().from_notebook_node(notebook)
    return str(page)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.lessons.render", description=__doc__)
    parser.add_argument("lesson", nargs="*", help=f"of {', '.join(LESSONS)} (all if left out)")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for the pages")
    parser.add_argument("--to", choices=EXPORTERS, default="markdown")
    given = parser.parse_args()
    unknown = set(given.lesson) - set(LESSONS)
    if unknown:
        parser.error(f"no lesson {', '.join(sorted(unknown))}; there are {', '.join(LESSONS)}")
    given.output.mkdir(parents=True, exist_ok=True)
    suffix = EXPORTERS[given.to]().file_extension
    for lesson in given.lesson or LESSONS:
        path = given.output / f"{lesson}{suffix}"
        path.write_text(render(FOLDER / f"{lesson}.py", given.to), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
