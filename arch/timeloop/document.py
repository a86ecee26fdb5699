"""Timeloop's files: known by their roots, several of one machine joined into one document."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from mapper.workloads.document import (
    LARGEST_DOCUMENT_BYTES,
    InputError,
    decoded,
    read_bytes,
    sha256,
)
from mapper.workloads.network.network import InputFile
from mapper.workloads.text.structured_text import LongNumberError, RepeatedKeyError, load_yaml

MACHINE_ROOTS = (
    "architecture",
    "architecture_constraints",
    "arch_constraints",
    "mapspace_constraints",
    "mapspace",
    "constraints",
    "ERT",
    "ART",
)
OTHER_ROOTS = (
    "problem",
    "mapping",
    "mapper",
    "compound_components",
    "variables",
    "globals",
    "dumped_by_timeloop_front_end",
)
"""Roots that say nothing about a machine; the file of one may hold them too."""
_ROOT = re.compile(rf"^({'|'.join(MACHINE_ROOTS)})[ \t]*:", re.MULTILINE)
_SCHEMA = re.compile(r"^[\"']?schema[\"']?[ \t]*:", re.MULTILINE)


def is_timeloop_machine(text: str) -> bool:
    """Whether a text is a file of Timeloop's about a machine: one of its roots, and no ``schema``."""
    return _ROOT.search(text) is not None and _SCHEMA.search(text) is None and "{{" not in text[:1]


def parse_timeloop(text: str, source: str) -> dict[str, Any]:
    """The roots of a file.

    Raises: InputError if it is no such document.
    """
    if re.search(r"{{|{%", text):
        raise InputError(
            source, "", "has jinja templates; give the file that Timeloop's front end makes of it"
        )
    try:
        fields = load_yaml(text, tagged=True)
    except RepeatedKeyError as error:
        raise InputError(source, error.key[:60], "occurs twice in one object; keep one of them") from None
    except (yaml.YAMLError, LongNumberError, ValueError, RecursionError) as error:
        raise InputError(source, "", f"is no YAML document: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(fields, dict) or not all(isinstance(key, str) for key in fields):
        raise InputError(source, "", "must be a document of named fields (key: value)")
    for key in fields:
        if key == "arch":
            raise InputError(
                source, key, "is of a version before 0.2; write architecture: of version 0.2 to 0.4"
            )
        if key not in MACHINE_ROOTS + OTHER_ROOTS:
            known = ", ".join(MACHINE_ROOTS)
            raise InputError(source, key[:60], f"is no part of a machine ({known}); give it as another file")
    return fields


def join_files(paths: list[str]) -> tuple[dict[str, tuple[str, Any]], tuple[InputFile, ...]]:
    """The machine's roots of several files, each with the file it came from.

    Raises: InputError if a file cannot be read, or two describe one root.
    """
    roots: dict[str, tuple[str, Any]] = {}
    inputs = []
    for path in paths:
        data = read_bytes(Path(path), LARGEST_DOCUMENT_BYTES)
        inputs.append(InputFile(path, sha256(data)))
        for key, value in parse_timeloop(decoded(data, path), path).items():
            if key in OTHER_ROOTS:
                continue
            own = "constraints" if key.endswith("constraints") or key == "mapspace" else key
            if own == "constraints":
                _extend(roots, own, value, path)
                continue
            if own in roots:
                raise InputError(path, key, f"stands in {roots[own][0]} too; give one of them")
            roots[own] = (path, value)
            if own == "architecture" and isinstance(value, dict) and "constraints" in value:
                _extend(roots, "constraints", value["constraints"], path)
    return roots, tuple(inputs)


def _extend(roots: dict[str, tuple[str, Any]], own: str, value: Any, path: str) -> None:
    """Constraints of several files hold together."""
    first, known = roots.get(own, (path, {"targets": []}))
    roots[own] = (first, {"targets": [*targets_of(known, first), *targets_of(value, path)]})


def targets_of(value: Any, source: str) -> list[Any]:
    """The constraints under a root, one each; older files group those of a target, and write fields as attributes.

    Raises: InputError if they are of another form.
    """
    if isinstance(value, dict):
        value = _listed(value, source)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InputError(source, "targets", "must be a list of constraints")
    found: list[Any] = []
    for target in value:
        of_target = target.get("constraints") if isinstance(target, dict) else None
        if isinstance(of_target, list) and all(isinstance(one, dict) for one in of_target):
            name = {key: one for key, one in target.items() if key != "constraints"}
            found += [_flat({**name, **one}) for one in of_target]
        else:
            found.append(_flat(target) if isinstance(target, dict) else target)
    return found


def _listed(fields: dict[Any, Any], source: str) -> Any:
    """The list of constraints in an object."""
    unknown = [
        str(key)[:60] for key in fields if key not in ("version", "template", "targets", "constraints")
    ]
    if unknown:
        raise InputError(source, unknown[0], "is no part of constraints (targets); remove it")
    if fields.get("template") not in (None, "uber"):
        remedy = f"{str(fields['template'])[:40]!r} cannot be represented; remove it, or give --fix factors=imperfect"
        raise InputError(source, "template", remedy)
    if "targets" in fields and "constraints" in fields:
        raise InputError(source, "constraints", "stands beside targets; give one of them")
    return fields.get("targets", fields.get("constraints"))


def _flat(entry: dict[str, Any]) -> dict[str, Any]:
    """A constraint whose attributes are fields of its own."""
    attributes = entry.get("attributes")
    if not isinstance(attributes, dict):
        return entry
    return {**{key: one for key, one in entry.items() if key != "attributes"}, **attributes}
