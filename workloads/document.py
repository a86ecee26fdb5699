"""Reading of text documents (YAML, JSON) that may be broken or hostile."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

LARGEST_DOCUMENT_BYTES = 1 << 20
DEEPEST_NESTING = 64


class InputError(Exception):
    """A problem that cannot be posed: one line naming the source, the field and the remedy (exit code 2)."""

    def __init__(self, source: str, field: str, remedy: str) -> None:
        self.source, self.field, self.remedy = source, field, remedy
        place = f"{source}: {field}" if field else source
        line = " ".join(f"{place}: {remedy}".split())[:600]
        # Names come from files: whatever a terminal would obey is not passed on.
        super().__init__("".join(char if char.isprintable() else "?" for char in line))


_Loader = yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader


class _StrictLoader(_Loader):  # type: ignore[misc, valid-type]
    """YAML without repeated keys, and without types that JSON has not: documents are written as JSON."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key in (self.construct_object(key, deep=True) for key, _ in node.value):
            if not isinstance(key, Hashable):
                raise yaml.YAMLError("a key must be a plain name")
            if key in seen:
                raise yaml.YAMLError(f"the key {key!r} stands twice")
            seen.add(key)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return mapping


def _refused(loader: Any, node: Any) -> Any:
    raise yaml.YAMLError(
        f"values of type {node.tag.rpartition(':')[2]} are not accepted; write text or numbers"
    )


_StrictLoader.add_constructor(
    "tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node)
)
for _kind in ("binary", "set", "omap", "pairs"):
    _StrictLoader.add_constructor(f"tag:yaml.org,2002:{_kind}", _refused)


def read_bytes(path: Path, largest: int) -> bytes:
    """The bytes of ``path``.

    Raises: InputError if it cannot be read or is larger than ``largest`` bytes.
    """
    too_large = InputError(str(path), "", f"larger than {largest} bytes; give a smaller file")
    try:
        if path.is_file():
            if path.stat().st_size > largest:
                raise too_large
            return path.read_bytes()
        # A pipe or a device says no size, and may have no end.
        with path.open("rb") as file:
            parts, length = [file.read(1 << 16)], 0
            while parts[-1] and length <= largest:
                length += len(parts[-1])
                parts.append(file.read(1 << 16))
        if length > largest:
            raise too_large
        return b"".join(parts)
    except OSError as error:
        raise InputError(str(path), "", f"cannot be read ({error.strerror}); give an existing file") from None


def sha256(data: bytes) -> str:
    """The hash by which a document names its inputs."""
    return hashlib.sha256(data).hexdigest()


def parse_document(data: bytes, source: str, largest: int = LARGEST_DOCUMENT_BYTES) -> dict[str, Any]:
    """A mapping from YAML or JSON text of at most ``largest`` bytes.

    Raises: InputError if the text is not a document of named fields.
    """
    if len(data) > largest:
        raise InputError(source, "", f"larger than {largest} bytes; give a smaller file")
    try:
        text = data.decode("utf-8")
        is_json = text.lstrip().startswith("{")
        if not is_json and len(data) > LARGEST_DOCUMENT_BYTES:
            raise _too_long_for_yaml(source, "it does not begin with a brace")
        value = json.loads(text) if is_json else _load_yaml(text)
    except json.JSONDecodeError as error:
        if len(data) > LARGEST_DOCUMENT_BYTES:
            raise _too_long_for_yaml(source, str(error)) from None
        return _parse_yaml(text, source)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        raise InputError(source, "", f"neither YAML nor JSON: {_first_line(error)}") from None
    except RecursionError:
        raise InputError(source, "", "nested too deeply; flatten it") from None
    return _named_fields(value, source)


def validation_error(error: ValidationError, source: str) -> InputError:
    """The first fault of a validated document, as one line."""
    # Of a hostile document there may be very many; what they were given would be copied for each.
    found = error.errors(include_url=False, include_context=False, include_input=False)
    first = found[0]
    # Of the ways one value may be written, the last tried says what is wrong with the one it comes nearest to.
    place = first["loc"][:-1]
    related = [other for other in found if place and other["loc"][: len(place)] == place]
    fault = related[-1] if related else first
    field = ".".join(str(part) for part in fault["loc"])
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "extra_forbidden":
        message = "unknown key; remove or correct it"
    return InputError(source, field[:120], message[:300])


def _load_yaml(text: str) -> Any:
    """The value of a YAML text, its events seen first: the parser would follow any depth until the stack
    ends, and an alias (a second use of a value) lets a small file unfold into a large value."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not accepted; write the value out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST_NESTING:
            raise yaml.YAMLError("nested too deeply; flatten it")
    try:
        return yaml.load(text, Loader=_StrictLoader)
    except (AttributeError, TypeError, KeyError, IndexError, OverflowError) as error:
        # What the library does not foresee of a value whose tag says another type than it has.
        raise yaml.YAMLError(f"a value that its tag does not fit ({type(error).__name__})") from None


def _too_long_for_yaml(source: str, reason: str) -> InputError:
    """A megabyte of YAML takes seconds to read, as it is read here, and hundreds of megabytes of memory."""
    remedy = f"is no JSON ({reason}); only documents up to {LARGEST_DOCUMENT_BYTES} bytes may be YAML"
    return InputError(source, "", remedy)


def _parse_yaml(text: str, source: str) -> dict[str, Any]:
    try:
        return _named_fields(_load_yaml(text), source)
    except (yaml.YAMLError, ValueError) as error:
        raise InputError(source, "", f"neither YAML nor JSON: {_first_line(error)}") from None
    except RecursionError:
        raise InputError(source, "", "nested too deeply; flatten it") from None


def _named_fields(value: Any, source: str) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise InputError(source, "", "must be a document of named fields (key: value)")
    return value


def _first_line(error: Exception) -> str:
    return str(error).replace("\n", " ")[:200]
