"""The drawing of the house is what its script writes, and shows the house that stands."""

from __future__ import annotations

from xml.etree import ElementTree

from docs.site import architecture
from mapper.kind import ENTRIES


def shown() -> set[str]:
    """All texts of the committed drawing."""
    return {
        node.text or ""
        for node in ElementTree.parse(architecture.PICTURE).iter()
        if node.tag.endswith("text")
    }


def test_the_drawing_is_what_its_script_writes() -> None:
    written = architecture.PICTURE.read_text(encoding="utf-8")
    assert written == architecture.drawing(), "run python -m docs.site.architecture"


def test_every_kind_has_a_column_in_the_drawing() -> None:
    assert {entry.name for entry in ENTRIES} <= {column.kind for column in architecture.COLUMNS} & shown()


def test_every_folder_of_the_drawing_stands_in_the_house() -> None:
    folders = {said for said in shown() if said.endswith("/") and "KIND" not in said}
    assert len(folders) == 8
    for folder in folders:
        assert (architecture.ROOT / folder).is_dir(), folder
    for column in architecture.COLUMNS:
        for floor in column.floors:
            assert architecture.has_room(floor, column.kind), f"{floor}/{column.kind}"
        assert (architecture.ROOT / "formulations" / column.kind / "referee").is_dir(), column.kind


def test_no_room_of_the_house_is_missing_in_the_drawing() -> None:
    for floor in architecture.FLOORS:
        kinds = {path.parent.name for path in (architecture.ROOT / floor).glob("*/__init__.py")}
        assert kinds == {column.kind for column in architecture.COLUMNS if floor in column.floors}
