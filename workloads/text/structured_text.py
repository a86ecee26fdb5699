"""The values of JSON and YAML texts that may be broken or hostile."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterator
from typing import Any

import yaml

DEEPEST_NESTING = 64
TOO_DEEP = "nested too deeply; flatten it"
MOST_DIGITS = 1000
"""Of a number in a document: longer ones are no quantity, and neither read nor written in linear time."""
_LONG = re.compile(rf"[0-9]{{{MOST_DIGITS + 1}}}")


class RepeatedKeyError(ValueError):
    """A key that stands twice in one object, of which a reader would silently take one."""

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(f"the key {key[:60]!r} occurs twice")


class LongNumberError(ValueError):
    """A number of more than ``MOST_DIGITS`` digits."""

    def __init__(self) -> None:
        super().__init__(f"a number has more than {MOST_DIGITS} digits; give a shorter one")


def load_json(text: str) -> Any:
    """The value of a JSON text.

    Raises: json.JSONDecodeError if it is none, RepeatedKeyError, LongNumberError.
    """
    # Asking for every number would take as long again: only where there is a long one, in a text perhaps.
    hooks: dict[str, Any] = {"parse_int": _integer, "parse_float": _real} if _LONG.search(text) else {}
    return json.loads(text, object_pairs_hook=_object, **hooks)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise RepeatedKeyError(key)
            seen.add(key)
    return found


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise LongNumberError
    return int(digits)


def _real(digits: str) -> float:
    if len(digits) > MOST_DIGITS:
        raise LongNumberError
    return float(digits)


_Loader = yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader


class _StrictLoader(_Loader):  # type: ignore[misc, valid-type]
    """YAML without repeated keys, and without types that JSON has not: documents are written as JSON."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key in (self.construct_object(key, deep=True) for key, _ in node.value):
            if not isinstance(key, Hashable):
                raise yaml.YAMLError("a key must be a plain name")
            if key in seen:
                raise RepeatedKeyError(str(key))
            seen.add(key)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return mapping


def _refused(loader: Any, node: Any) -> Any:
    raise yaml.YAMLError(
        f"values of type {node.tag.rpartition(':')[2]} are not accepted; write text or numbers"
    )


def _number(loader: Any, node: Any) -> Any:
    """A number; what YAML 1.1 takes for one to the base of 60 (``1:30``) is text, as in YAML 1.2."""
    text = str(loader.construct_scalar(node))
    if ":" in text:
        return text
    if len(text) > MOST_DIGITS:
        raise LongNumberError
    if node.tag.endswith(":int"):
        return loader.construct_yaml_int(node)
    return loader.construct_yaml_float(node)


_StrictLoader.add_constructor(
    "tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node)
)
for _kind in ("binary", "set", "omap", "pairs"):
    _StrictLoader.add_constructor(f"tag:yaml.org,2002:{_kind}", _refused)
for _kind in ("int", "float"):
    _StrictLoader.add_constructor(f"tag:yaml.org,2002:{_kind}", _number)


TAG = "!"
"""The key under which a value that carries a tag of its own (``!Component``) says which."""


class _TaggedLoader(_StrictLoader):
    """Documents whose objects carry tags of their own, as Timeloop's do."""


def _tagged(loader: Any, suffix: str, node: Any) -> Any:
    if not isinstance(node, yaml.MappingNode):
        raise yaml.YAMLError(f"a value tagged !{suffix} that is no object; write an object")
    return {TAG: suffix, **loader.construct_mapping(node, deep=True)}


_TaggedLoader.add_multi_constructor("!", _tagged)


def _events(text: str) -> Iterator[yaml.Event]:
    """The events of a YAML text. Newer libraries count the depth themselves, tokens ahead of the first event.

    Raises: yaml.YAMLError if it is none.
    """
    try:
        yield from yaml.parse(text, Loader=_Loader)
    except yaml.scanner.ScannerError as error:
        if error.problem == "exceeded maximum nesting depth":
            raise yaml.YAMLError(TOO_DEEP) from None
        raise


def load_yaml(text: str, tagged: bool = False) -> Any:
    """The value of a YAML text, its events seen first: the parser would follow any depth until the stack
    ends, and an alias (a second use of a value) lets a small file unfold into a large value. If ``tagged``, objects
    may have tags of their own, which stand under the key ``TAG``.

    Raises: yaml.YAMLError if it is none, RepeatedKeyError, LongNumberError, ValueError for a number that is none.
    """
    depth = 0
    for event in _events(text):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not accepted; write the value out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST_NESTING:
            raise yaml.YAMLError(TOO_DEEP)
    try:
        return yaml.load(text, Loader=_TaggedLoader if tagged else _StrictLoader)
    except (AttributeError, TypeError, KeyError, IndexError, OverflowError) as error:
        # What the library does not foresee of a value whose tag says another type than it has.
        raise yaml.YAMLError(f"a value that its tag does not fit ({type(error).__name__})") from None
