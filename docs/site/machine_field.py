"""The page of machine fields, from their definitions and ``arch/field.yaml``: ``python -m docs.site.machine_field``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from mapper.arch.field import MachineField, machine_fields
from mapper.arch.source import preset_text
from mapper.schema.document import READ

PAGE = Path(__file__).parents[1] / "machine-field.md"
HEAD = """# Machine fields

Made from the definitions of the fields by `python -m docs.site.machine_field`; do not edit.

Every field of every class of machine, as a YAML or JSON file that `--arch` names writes it: `a.b` is field `b` of the
object `a`, `a[].b` that of each object in the list `a`. A field without a default must be given; `–` stands where
there is no unit. The last column says
whose the meaning of a field is and where the values of the preset come from; what no publication gives is this
project's choice, as the preset's `description` says too. `mapper show PRESET > mine.yaml` writes a file to edit,
`mapper schema NAME` what editors need to check it, and `--vary a.b=V1,V2` of `mapper sweep` tries other values. How a
machine is made of a file: [Add a machine](how-to/add-a-machine.md). What the keys stand for:
[References](references.md).
"""
CLASSES = {
    "dataflow": ("Dataflow accelerators", "dmazerunner-256"),
    "cgra": ("CGRAs", "srp-4x4"),
    "tcpa": ("TCPAs", "tcpa-4x4"),
    "dynamap": ("Systolic overlays", "dynamap-u200"),
    "snowflake": ("Snowflake", "snowflake-1cc"),
    "hierarchy": ("Memory hierarchies", "eyeriss-like"),
}
"""Documents of machines: what they are called, and a preset whose values stand in the table."""
NO_UNIT = "–"
"""Of names, lists, choices and what is true or false."""
MOST_SHOWN = 24
"""Characters of a value that a table has room for."""


def page() -> str:
    """The page as it should be."""
    return "\n".join([HEAD, *(line for name in CLASSES for line in _section(name))]).rstrip() + "\n"


def _section(name: str) -> list[str]:
    module, _, owner = READ[name].partition(":")
    title, preset = CLASSES[name]
    values = yaml.safe_load(preset_text(preset) or "")
    lines = [
        f"## {title}",
        f"`schema: mapper.{name}/1`. Values of `{preset}`, whose `description` reads: {_inline(values['description'])}",
        "",
        f"| field | what it is | unit | default | `{preset}` | source |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for field in machine_fields(getattr(import_module(module), owner)):
        told = field.told
        assert told is not None, f"arch/field.yaml has no {field.path} of {owner}"
        is_shown = not field.has_fields and field.path not in ("name", "description")
        own = _value(_at(values, field.path)) if is_shown else ""
        cells = [told.meaning, told.unit or NO_UNIT, _default(field), own, told.source]
        lines.append(f"| `{field.path}` | " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return [*lines, ""]


def _inline(text: str) -> str:
    return " ".join(text.split())


def _default(field: MachineField) -> str:
    if field.info.is_required():
        return "required"
    value = field.info.default
    if field.has_fields and value is not None:
        return "as below"
    return _value(value) or "empty"


def _at(document: Any, path: str) -> Any:
    """What a document has at a path; the first entry stands for a list."""
    for step in path.split("."):
        if not isinstance(document, dict):
            return ""
        document = document.get(step.removesuffix("[]"), "")
        if step.endswith("[]"):
            document = document[0] if document else ""
    return document


def _value(value: Any) -> str:
    """A value as YAML has it, cut where it is long."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        text = ", ".join(f"{key}: {one}" for key, one in value.items())
    elif isinstance(value, list | tuple):
        text = ", ".join(map(str, value))
    else:
        text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
