"""The hook of the site's generator: pages that stand elsewhere in the repository or are made on the way.

Getting started is the README. Lessons are taken as ``docs.lessons.render`` wrote them into ``build/lessons``; those
that it has not written are left out. The interface has a page for ``mapper`` itself and one for each floor. TeX becomes
pictures, which browsers show without fonts or anything from the network.
"""

from __future__ import annotations

import html
import logging
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from mapper.workloads.text.formula import typeset

ROOT = Path(__file__).parents[2]
LESSONS = Path("build", "lessons")
FLOORS = ("workloads", "arch", "models", "formulations", "solver", "codegen", "sim")
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Complete the navigation."""
    # Docstrings write indices as [a][b]; what Markdown would take for a reference stays the text that it is.
    for name in [name for name in logging.root.manager.loggerDict if "mkdocs_autorefs" in name]:
        logging.getLogger(name).addFilter(no_index)
    assert config.nav is not None
    pages = [path for path in config.nav if "Command line" not in path]
    lessons: list[Any] = [{"Lessons": [f"lessons/{name}.md" for name in rendered()]}] if rendered() else []
    api = [{"mapper": "api/mapper.md"}, *({floor: f"api/{floor}.md"} for floor in FLOORS)]
    config.nav = [pages[0], *lessons, *pages[1:], {"Command line": "cli.md"}, {"Python": api}]
    return config


def no_index(record: logging.LogRecord) -> bool:
    return "Could not find cross-reference target" not in record.getMessage()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that stand elsewhere."""
    made = {"index.md": getting_started(), "api/mapper.md": public_page()}
    made |= {f"api/{floor}.md": floor_page(floor) for floor in FLOORS}
    made |= {f"lessons/{name}.md": (ROOT / LESSONS / f"{name}.md").read_text("utf-8") for name in rendered()}
    made["assets/iframe-worker.js"] = (ROOT / "docs" / "site" / "iframe-worker.js").read_text("utf-8")
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_content(text: str, page: Any, **_: Any) -> str:
    """Formulas as pictures. Says which page it is, since all of them take a minute."""
    print(f"  {page.file.src_uri}", flush=True)
    return FORMULA.sub(formula, text)


def formula(found: re.Match[str]) -> str:
    kind, _, tex = found.groups()
    return typeset(html.unescape(tex), kind == "div")


def rendered() -> list[str]:
    """The lessons that were rendered."""
    return sorted(path.stem for path in (ROOT / LESSONS).glob("*.md"))


def getting_started() -> str:
    """The README with its links as they are on the site."""
    text = (ROOT / "README.md").read_text("utf-8")
    return text.replace("](docs/", "](").replace("](CONTRIBUTING.md)", "](how-to/add-a-formulation.md)")


def public_page() -> str:
    """The names that ``import mapper`` has."""
    import mapper

    return "# mapper\n\n" + "".join(f"::: mapper.{name}\n\n" for name in mapper.__all__)


def floor_page(floor: str) -> str:
    """Every module of a floor with what it says of itself."""
    folder = ROOT / floor
    paths = sorted(path for path in folder.rglob("*.py") if "rtl" not in path.parts)
    return f"# {floor}\n\n" + "".join(f"::: {module(path)}\n\n" for path in paths)


def module(path: Path) -> str:
    """The name under which a source file is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("mapper", *(parts[:-1] if parts[-1] == "__init__" else parts)))
