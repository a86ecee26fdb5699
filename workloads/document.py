"""Reading of text documents (YAML, JSON) that may be broken or hostile."""

from __future__ import annotations

import codecs
import hashlib
import json
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from mapper.workloads.text.fault import NAMED, in_words, keys_at, steps
from mapper.workloads.text.plain_text import plain
from mapper.workloads.text.structured_text import LongNumberError, RepeatedKeyError, load_json, load_yaml

LARGEST_DOCUMENT_BYTES = 1 << 20
MOST_SHOWN = 100
"""Faults of a document up to which it is looked at what was given in place of what there is."""
_OTHER_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class InputError(Exception):
    """A problem that cannot be posed: one line naming the source, the field and the remedy (exit code 2)."""

    def __init__(self, source: str, field: str, remedy: str) -> None:
        self.source, self.field, self.remedy = source, field, remedy
        place = f"{source}: {field}" if field else source
        line = " ".join(f"{place}: {remedy}".split())[:600]
        super().__init__(plain(line))


def is_file(path: Path) -> bool:
    """Whether there is such a file; a name that no file can have (too long, with a NUL) is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


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
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else "no name of a file"
        raise InputError(str(path), "", f"cannot be read ({said}); give an existing file") from None


def unmarked(data: bytes, source: str) -> bytes:
    """``data`` without the byte order mark of UTF-8.

    Raises: InputError if the mark is that of another encoding.
    """
    if data.startswith(_OTHER_MARKS):
        raise InputError(source, "", "is not UTF-8 text; save it as such")
    return data.removeprefix(codecs.BOM_UTF8)


def decoded(data: bytes, source: str) -> str:
    """The text of a file without a byte order mark, its lines ended by line feeds.

    Raises: InputError if it is not UTF-8.
    """
    try:
        text = unmarked(data, source).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(source, "", "is not UTF-8 text; save it as such") from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def sha256(data: bytes) -> str:
    """The hash by which a document names its inputs."""
    return hashlib.sha256(data).hexdigest()


def parse_document(data: bytes, source: str, largest: int = LARGEST_DOCUMENT_BYTES) -> dict[str, Any]:
    """A mapping from YAML or JSON text of at most ``largest`` bytes.

    Raises: InputError if the text is not a document of named fields.
    """
    if len(data) > largest:
        raise InputError(source, "", f"larger than {largest} bytes; give a smaller file")
    text = decoded(data, source)
    is_json = text.lstrip().startswith("{")
    if not is_json and len(data) > LARGEST_DOCUMENT_BYTES:
        raise _too_long_for_yaml(source, "it does not begin with a brace")
    try:
        value = _loaded(text, is_json)
    except json.JSONDecodeError as error:
        raise _too_long_for_yaml(source, str(error)) from None
    except RepeatedKeyError as error:
        raise InputError(source, error.key[:60], "occurs twice in one object; keep one of them") from None
    except LongNumberError as error:
        raise InputError(source, "", str(error)) from None
    except (yaml.YAMLError, ValueError) as error:
        raise InputError(source, "", f"neither YAML nor JSON: {_first_line(error)}") from None
    except RecursionError:
        raise InputError(source, "", "nested too deeply; flatten it") from None
    return _named_fields(value, source)


def validation_error(error: ValidationError, source: str, kind: type[BaseModel]) -> InputError:
    """The first fault of a document that was to be of a ``kind``, as one line, in words of our own."""
    # Of a hostile document there may be very many; what they were given would be copied for each.
    few = error.error_count() <= MOST_SHOWN
    found = error.errors(include_url=False, include_context=False, include_input=few)
    first = found[0]
    # Of the ways one value may be written, the last tried says what is wrong with the one it comes nearest to.
    place = first["loc"][:-1]
    related = [other for other in found if place and other["loc"][: len(place)] == place]
    named = [one for one in related if one["type"] in NAMED and isinstance(one.get("input"), str)]
    fault = (named or related or [first])[-1]
    if fault["type"] == "missing":
        # Rather than what is missing, what somebody wrote instead of it.
        strange = (one for one in found if one["type"] == "extra_forbidden")
        fault = next((one for one in strange if one["loc"][:-1] == fault["loc"][:-1]), fault)
    place = fault["loc"]
    field = ".".join(map(str, steps(kind, place)))
    known = keys_at(kind, place[:-1]) if fault["type"] == "extra_forbidden" else ()
    own = str(place[-1]) if place else ""
    return InputError(
        source, field[:120], in_words(fault["type"], fault["msg"], own, known, fault.get("input"))
    )


def _too_long_for_yaml(source: str, reason: str) -> InputError:
    """A megabyte of YAML takes seconds to read, as it is read here, and hundreds of megabytes of memory."""
    remedy = f"is not JSON ({reason}); only documents up to {LARGEST_DOCUMENT_BYTES} bytes may be YAML"
    return InputError(source, "", remedy)


def _loaded(text: str, is_json: bool) -> Any:
    """What ``text`` says; what looks like JSON and is none may be YAML, if it is short enough."""
    if is_json:
        try:
            return load_json(text)
        except json.JSONDecodeError:
            if len(text) > LARGEST_DOCUMENT_BYTES:
                raise
    return load_yaml(text)


def _named_fields(value: Any, source: str) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise InputError(source, "", "must be a document of named fields (key: value)")
    return value


def _first_line(error: Exception) -> str:
    return str(error).replace("\n", " ")[:200]
