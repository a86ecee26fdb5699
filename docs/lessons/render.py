"""Run the lessons and render them with their outputs: ``python -m docs.lessons.render -o DIR [--to FORMAT]``."""

from __future__ import annotations

import argparse
import base64
import re
import time
from pathlib import Path
from typing import Any

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


FIGURE = re.compile(r"\(\.\./figure/([a-z-]+\.svg)\)")


def render(path: Path, to: str = "markdown") -> str:
    """The page of the lesson in ``path`` (``to``: markdown, html or notebook). Raises: nbclient's CellExecutionError
    if a cell fails."""
    notebook = jupytext.read(path)
    # Files instead of ports between the two processes: nobody else on the machine can listen.
    connection = Config({"ConnectionFileMixin": {"transport": "ipc"}})
    NotebookClient(notebook, timeout=300, kernel_name="python3", config=connection).execute()
    embed(notebook, to)
    page, _ = EXPORTERS[to]().from_notebook_node(notebook)
    return str(page)


def embed(notebook: Any, to: str) -> None:
    """Put pictures where their page finds them: figures into what stands alone, and pages in frames on one line each,
    as Markdown ends HTML at an empty one."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and to != "markdown":
            cell.source = FIGURE.sub(_inlined, cell.source)
        for output in cell.get("outputs", ()):
            shown = output.get("data", {})
            if "text/html" in shown:
                shown["text/html"] = shown["text/html"].replace("\n", "&#10;")


def _inlined(found: re.Match[str]) -> str:
    data = base64.b64encode((FOLDER.parent / "figure" / found[1]).read_bytes()).decode()
    return f"(data:image/svg+xml;base64,{data})"


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
    chosen = given.lesson or LESSONS
    for place, lesson in enumerate(chosen, 1):
        began = time.monotonic()
        print(f"lesson {place} of {len(chosen)}: {lesson} ", end="", flush=True)
        path = given.output / f"{lesson}{suffix}"
        path.write_text(render(FOLDER / f"{lesson}.py", given.to), encoding="utf-8")
        print(f"({time.monotonic() - began:.0f} s) {path}", flush=True)


if __name__ == "__main__":
    main()
