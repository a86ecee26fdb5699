"""Machines by name (a preset) or file, told apart by their schema."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, overload

import yaml

from mapper.arch.cgra import cgra_from_document
from mapper.arch.cgra_preset import FAMILIES, cgra_preset, srp_names
from mapper.arch.dataflow import DataflowMachine, dataflow_from_document
from mapper.arch.hierarchy import HIERARCHY_SCHEMA, hierarchy_from_document
from mapper.arch.overlay import overlay_from_document
from mapper.arch.snowflake import snowflake_from_document, snowflake_preset
from mapper.arch.tcpa import FAMILY, tcpa_from_document, tcpa_preset
from mapper.workloads.document import (
    LARGEST_DOCUMENT_BYTES,
    InputError,
    decoded,
    is_file,
    parse_document,
    read_bytes,
    sha256,
)
from mapper.workloads.network.network import InputFile
from mapper.workloads.text.nearest import meant, nearest

PRESETS = Path(__file__).parent / "presets"
_SCHEMA = re.compile(r"^[\"']?schema[\"']?[ \t]*:", re.MULTILINE)
SNOWFLAKES = ("snowflake-1cc", "snowflake-2cc", "snowflake-4cc")


class Machine(Protocol):
    """What machines of all classes have: pydantic models whose document names its schema."""

    @property
    def schema_name(self) -> str: ...

    @property
    def name(self) -> str: ...

    def model_dump(self, *, mode: Literal["json"], by_alias: Literal[True]) -> dict[str, Any]: ...


READERS: dict[str, Callable[[dict[str, Any], str], Machine]] = {
    "mapper.dataflow/1": dataflow_from_document,
    "mapper.cgra/1": cgra_from_document,
    "mapper.tcpa/1": tcpa_from_document,
    "mapper.dynamap/1": overlay_from_document,
    "mapper.snowflake/1": snowflake_from_document,
    HIERARCHY_SCHEMA: hierarchy_from_document,
}
"""What reads a machine of each class, by its schema. These have presets, which lower floors load without knowing kinds;
others come with the kinds that they pose."""


def add_machine_class(schema: str, reader: str) -> None:
    """Know machines of ``schema``: ``reader`` is ``module:function``, imported when there is one to be read."""
    module, _, function = reader.partition(":")

    def read(fields: dict[str, Any], source: str) -> Machine:
        found: Machine = getattr(import_module(module), function)(fields, source)
        return found

    READERS[schema] = read


class MachineName(NamedTuple):
    """A preset, or a family of presets: its name, a line of description, and the schema of its document."""

    name: str
    description: str
    schema: str


def machine_names() -> tuple[MachineName, ...]:
    """Names of the presets, and of the families of presets."""
    presets = [
        (path.stem, parse_document(path.read_bytes(), path.name)) for path in sorted(PRESETS.glob("*.yaml"))
    ]
    presets += [(name, cgra_preset(name) or {}) for name in srp_names()]
    presets += [(name, snowflake_preset(name) or {}) for name in SNOWFLAKES]
    return (
        *(MachineName(name, _first_sentence(fields), fields["schema"]) for name, fields in presets),
        *(MachineName(*family, "mapper.cgra/1") for family in FAMILIES),
        MachineName(*FAMILY, "mapper.tcpa/1"),
    )


def preset_text(name: str) -> str | None:
    """The YAML of a preset, or None if there is none of that name."""
    fields = cgra_preset(name) or tcpa_preset(name) or snowflake_preset(name)
    if fields is not None:
        # Flow style keeps every entry of a long list of PEs on few lines.
        return yaml.safe_dump(fields, sort_keys=False, default_flow_style=None, width=100)
    path = PRESETS / f"{name}.yaml"
    return path.read_text() if path.stem == name and is_file(path) else None


@overload
def load_machine(
    text: Literal["dmazerunner-256", "eyeriss-168", "eyeriss-168-tiles"],
) -> tuple[DataflowMachine, InputFile]: ...


@overload
def load_machine(text: str) -> tuple[Machine, InputFile]: ...


def load_machine(text: str) -> tuple[Machine, InputFile]:
    """The machine named ``text``: a preset, a YAML or JSON file with a ``schema`` key, or a file of
    Timeloop's, ZigZag's or AccelForge's.

    Raises: InputError if there is no such machine or its document is wrong.
    """
    machine, files = load_machine_files(text)
    return machine, files[0]


def load_machine_files(text: str) -> tuple[Machine, tuple[InputFile, ...]]:
    """The machine that ``text`` names, and all files it was read from: files of Timeloop's joined with ``+``, which may
    constrain a preset or a machine's own document, or anything that `load_machine` takes.

    Raises: InputError if there is no such machine or a document is wrong.
    """
    preset = preset_text(text) if "/" not in text else None
    if preset is not None:
        data = preset.encode()
        file = InputFile(f"catalogue:{text}", sha256(data))
        return machine_from_document(parse_document(data, text), text), (file,)
    if "+" in text and not _exists(Path(text)):
        from mapper.arch.timeloop.joined import joined_machine

        return joined_machine(text.split("+"), load_machine_files)
    path = Path(text)
    if not path.suffix and not _exists(path):
        names = [one.name for one in machine_names()]
        near = nearest(text, names, close=0.4) or names
        raise InputError(
            "--arch", text, f"no such machine; {meant(text, names)}try {', '.join(near)} or a YAML file"
        )
    data = read_bytes(path, LARGEST_DOCUMENT_BYTES)
    shown = decoded(data, text)
    if _is_timeloop(shown):
        from mapper.arch.timeloop.joined import joined_machine

        return joined_machine([text], load_machine_files)
    file = InputFile(text, sha256(data))
    foreign = _foreign(shown, data, text)
    return foreign or machine_from_document(parse_document(data, text), text), (file,)


def _foreign(shown: str, data: bytes, source: str) -> Machine | None:
    """The machine that a file of another tool describes, ``shown`` being its text; None if it is none.

    Raises: InputError if it describes one that is no machine here.
    """
    from mapper.arch.accelforge.machine import accelforge_machine, is_accelforge_machine
    from mapper.arch.zigzag.machine import is_zigzag_machine, zigzag_machine

    if _SCHEMA.search(shown) is not None:
        return None
    if is_zigzag_machine(shown):
        return zigzag_machine(parse_document(data, source), source)
    if is_accelforge_machine(shown):
        return accelforge_machine(shown, source)
    return None


def _is_timeloop(text: str) -> bool:
    from mapper.arch.timeloop.document import is_timeloop_machine

    return is_timeloop_machine(text)


def _exists(path: Path) -> bool:
    """Whether there is anything, a device or a pipe too; what no name can be is not there."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def machine_from_document(fields: dict[str, Any], source: str) -> Machine:
    """A machine of the class its ``schema`` names.

    Raises: InputError if the schema is unknown or a field is wrong.
    """
    schema = fields.get("schema")
    if isinstance(schema, str) and schema in READERS:
        return READERS[schema](fields, source)
    *others, last = READERS
    remedy = f"{schema!r} is not a machine; {meant(str(schema), READERS)}write {', '.join(others)} or {last}"
    raise InputError(source, "schema", remedy)


def machine_to_document(machine: Machine) -> dict[str, Any]:
    """The document that reads back as ``machine``."""
    return machine.model_dump(mode="json", by_alias=True)


def _first_sentence(fields: dict[str, Any]) -> str:
    # A point inside "sec. 5" ends no sentence: after one that does, a capital follows.
    return re.split(r":|\. (?=[A-Z])", str(fields.get("description", "")))[0]
