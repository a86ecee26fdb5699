"""Rooms are small enough to find something in: no folder holds more files than a reader keeps in mind."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOUSES = (
    "workloads",
    "arch",
    "models",
    "formulations",
    "solver",
    "codegen",
    "sim",
    "checkers",
    "src",
    "tests",
    "bench",
    "docs",
)
MOST_FILES = 16
KINDS_OF_FILE = (".py", ".sv", ".md")
LARGER: dict[str, str] = {}
"""Rooms that are better whole, and why."""


def rooms(root: Path) -> dict[str, int]:
    """Every folder with the number of its modules or pages; folders that are links to another floor are left out."""
    found: dict[str, int] = {}
    for house in HOUSES:
        for path in sorted((root / house).rglob("*")):
            if path.suffix in KINDS_OF_FILE and not any(folder.is_symlink() for folder in path.parents):
                room = path.parent.relative_to(root).as_posix()
                found[room] = found.get(room, 0) + 1
    return found


@pytest.mark.parametrize("house", HOUSES)
def test_every_house_has_rooms(house: str) -> None:
    assert any(room.split("/")[0] == house for room in rooms(ROOT))


def test_no_room_has_more_than_sixteen_files_but_for_a_stated_reason() -> None:
    assert {room for room, files in rooms(ROOT).items() if files > MOST_FILES} == set(LARGER)


def test_a_room_of_seventeen_files_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "solver" / "full").mkdir(parents=True)
    for number in range(MOST_FILES + 1):
        (tmp_path / "solver" / "full" / f"part{number}.py").touch()
    assert rooms(tmp_path) == {"solver/full": MOST_FILES + 1}
