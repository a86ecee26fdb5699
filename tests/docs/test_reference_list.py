"""Works are cited by keys that the list of references spells out."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = ROOT / "docs" / "references.md"
ROOMS = (
    "arch",
    "bench",
    "codegen",
    "docs",
    "formulations",
    "models",
    "sim",
    "solver",
    "src",
    "tests",
    "workloads",
)
KINDS_OF_FILES = {".py", ".md", ".yaml", ".sv", ".c"}
KEY = re.compile(r"\[([A-Z][A-Za-z]+(?:19|20)\d\d[a-z]?)\b")
ENTRY = re.compile(
    r"^- \*\*\[(?P<key>\w+)\]\*\* (?P<authors>[^*]+)\. \*(?P<title>[^*]+)\*(?P<venue>.+)$", re.MULTILINE
)
BY_NUMBER = re.compile(r"\(00\d[,)]")
"""Works were once cited by the number of a folder: ``(004, section 4)``."""


@cache
def texts() -> dict[Path, str]:
    """Every text of the repository that may cite a work, but for this one."""
    found = [path for room in ROOMS for path in (ROOT / room).rglob("*") if path.suffix in KINDS_OF_FILES]
    found += [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    return {path: path.read_text("utf-8", errors="replace") for path in found if path != Path(__file__)}


def test_every_entry_has_authors_a_title_a_venue_and_the_year_of_its_key() -> None:
    lines = [line for line in LIST.read_text("utf-8").splitlines() if line.startswith("- ")]
    entries = list(ENTRY.finditer("\n".join(lines)))
    assert len(entries) == len(lines)
    for entry in entries:
        surname = re.sub(r"\d.*", "", entry["key"])
        assert surname in entry["authors"].split(" and ")[0], entry["key"]
        assert re.search(r"\d{4}", entry["key"])[0] in entry["venue"], entry["key"]  # type: ignore[index]


def test_every_key_that_is_cited_is_in_the_list_and_the_other_way_round() -> None:
    listed = {entry["key"] for entry in ENTRY.finditer(LIST.read_text("utf-8"))}
    cited = {key: path for path, text in texts().items() if path != LIST for key in KEY.findall(text)}
    assert cited.keys() == listed, {key: str(path) for key, path in cited.items() if key not in listed}


def test_no_work_is_cited_by_a_number() -> None:
    assert BY_NUMBER.search("(004, section 4)")
    assert not [str(path) for path, text in texts().items() if BY_NUMBER.search(text)]
