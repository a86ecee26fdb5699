"""Problem files of Timeloop that include a base in their first line, and say what differs from it:

    {{include_text('../problem_base.yaml')}}
    problem:
      <<<: *problem_base
      instance: {C: 3, M: 64}

The base gives one object a name (``problem_base_ignore: &problem_base``), and ``<<<`` merges it, objects inside it too.
No other templates and aliases are read.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from mapper.workloads.document import LARGEST_DOCUMENT_BYTES, InputError, decoded, read_bytes, sha256
from mapper.workloads.network.network import InputFile
from mapper.workloads.text.structured_text import LongNumberError, RepeatedKeyError, load_yaml

_INCLUDE = re.compile(r"\s*{{\s*include_text\(\s*(['\"])([^'\"\n]+)\1\s*\)\s*}}[ \t]*\n")
_ANCHOR = re.compile(r"^(\w+)[ \t]*:[ \t]*&(\w+)[ \t]*$", re.MULTILINE)
_MERGED = re.compile(r"^([ \t]+)<<<[ \t]*:[ \t]*\*(\w+)[ \t]*$", re.MULTILINE)
MERGE = "<<<"


def problem_fields(text: str, source: str) -> tuple[Any, tuple[InputFile, ...]]:
    """The ``problem`` of a file with the base that it includes, if it does, and the files that were read for it.

    Raises: InputError if a file is no such document, or has other templates.
    """
    included = _INCLUDE.match(text)
    if included is None:
        return _problem(_loaded(text, source)), ()
    path = Path(source).parent / included[2]
    data = read_bytes(path, LARGEST_DOCUMENT_BYTES)
    base = decoded(data, str(path))
    named = _ANCHOR.findall(base)
    if len(named) != 1:
        raise InputError(str(path), "", "must name one object (problem_base_ignore: &problem_base)")
    key, name = named[0]
    bases = _loaded(_ANCHOR.sub(r"\1:", base), str(path))
    own = _problem(_loaded(_MERGED.sub(rf"\1'{MERGE}': \2", text[included.end() :]), source))
    files = (InputFile(str(path), sha256(data)),)
    if not isinstance(own, dict) or MERGE not in own:
        return own, files
    if own[MERGE] != name:
        raise InputError(
            source, f"problem.{MERGE}", f"{own[MERGE]!r} is none of {path.name}, which has {name}"
        )
    return _merged(bases.get(key), {one: value for one, value in own.items() if one != MERGE}), files


def _loaded(text: str, source: str) -> Any:
    if re.search(r"{{|{%", text):
        remedy = "has jinja templates; give the file that Timeloop's front end makes of it"
        raise InputError(source, "", remedy)
    try:
        return load_yaml(text, tagged=True)
    except RepeatedKeyError as error:
        raise InputError(source, error.key[:60], "occurs twice in one object; keep one of them") from None
    except (yaml.YAMLError, LongNumberError, ValueError, RecursionError) as error:
        raise InputError(source, "", f"is no YAML document: {' '.join(str(error).split())[:200]}") from None


def _problem(fields: Any) -> Any:
    return fields.get("problem") if isinstance(fields, dict) else None


def _merged(base: Any, own: Any) -> Any:
    """Fields of its own go before those of the base, in objects inside too."""
    if not isinstance(base, dict) or not isinstance(own, dict):
        return own
    return {**base, **{key: _merged(base.get(key), value) for key, value in own.items()}}
