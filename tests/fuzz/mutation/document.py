"""Documents in JSON and YAML: their trees with hostile values, their texts with what the languages allow beside."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

import yaml

from tests.fuzz.mutation.byte import LARGEST_BYTES, mutated_bytes
from tests.fuzz.mutation.text import HOSTILE, mutated_text

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 7, 64, 4097, 1 << 20, 1 << 31, (1 << 31) - 1, 1 << 32, 1 << 53, 1 << 62,
    (1 << 63) - 1, 1 << 63, -(1 << 63), 1 << 64, 10**30, 10**400, 0.0, -0.0, 0.5, 1e-300, 1e-9, 1e18, 1e300, 1.7e308,
    float("nan"), float("inf"), float("-inf"), [], {}, [[]], [{}], {"": None}, {"0": 0}, [None], [0, 0],
    "\ud800", "0", "1", "inf", "all", "any", *HOSTILE,
)  # fmt: skip
_NUMBER = re.compile(rb"(?<![\w.])[0-9]+(?![\w.:])")
_LONG_NUMBERS = (
    b"1" + b":1" * 400_000,
    b"1" + b":1" * 400_000 + b".5",
    b"9" * 5000,
    b"0x" + b"f" * 50_000,
    b"1:30",
)
_LONG_PARTS = (b":1" * 1000, b"9" * 4000, b"f" * 4000)
"""In place of numbers: to the base of 60, and longer than any number is."""
LONG = 50_000
"""Longer documents are not multiplied: several changes in a row would."""
_ALIASES = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
_YAML_WORDS = (
    "&a ", "*a", "<<: *a", "!!python/object/apply:os.system [true]", "!!binary aGk=", "!!set {a, b}", "!!float 1",
    "!!timestamp 2001-01-01", "? ", ": ", "- ", "---\n", "...\n", "%YAML 9.9\n", "|\n", ">-\n", "~", "0o17", "1:30",
    "0x10", "1_000", "yes", ".inf", ".nan", "[", "{", "}", "]", ",", "\t", "=", "2001-01-01", "!", "@", "`",
    "1:30.5", "\r", "\r\n", "\ufeff",
)  # fmt: skip


def mutated_json(data: bytes, random: Random) -> bytes:
    """``data``, a JSON document, with one change."""
    return _mutated(data, random, as_json)


def mutated_yaml(data: bytes, random: Random) -> bytes:
    """``data``, a YAML document, with one change."""
    chance = random.random()
    if chance < 0.02:
        numbers = list(_NUMBER.finditer(data))
        if numbers:
            place = random.choice(numbers)
            return data[: place.start()] + random.choice(_LONG_NUMBERS) + data[place.end() :]
    if chance < 0.04:
        return (_ALIASES.encode() + data)[:LARGEST_BYTES]
    return _mutated(data, random, as_yaml if random.random() < 0.2 else as_flow)


def as_json(tree: Any) -> bytes:
    """A tree as JSON; text that is none in UTF-8 is escaped."""
    return json.dumps(tree).encode()


def as_yaml(tree: Any) -> bytes:
    """A tree as YAML without aliases, names before their values on one line."""
    text = yaml.dump(tree, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=10**6)
    return text.encode("utf-8", "surrogatepass")


def as_flow(tree: Any) -> bytes:
    """A tree as YAML in brackets, which is quick to write, and no JSON for its first line."""
    return b"---\n" + as_json(tree)


def mutated_tree(tree: Any, random: Random) -> Any:
    """A copy of ``tree`` with one of its values changed, moved, dropped, repeated or called otherwise."""
    text = json.dumps(tree)
    copy, many = json.loads(text), 100 if len(text) < LONG else 2
    place = _descended(copy, random)
    if place is None:
        return random.choice(VALUES)
    holder, key = place
    value = holder[key]
    match random.randrange(8):
        case 0:
            del holder[key]
        case 1 | 2:
            holder[key] = random.choice(VALUES)
        case 3:
            holder[key] = _nudged(value, random)
        case 4:
            other = _descended(copy, random) or place
            holder[key] = json.loads(json.dumps(other[0][other[1]]))
        case 5:
            holder[key] = random.choice(([value], {"a": value}, [value, value], [value] * many, _deep(value)))
        case 6:
            if isinstance(holder, list):
                holder[key:key] = [value] * random.choice((1, 2, many))
            else:
                holder[random.choice((*HOSTILE, *holder, "0", "-1", "9999"))] = value
        case _:
            if isinstance(holder, list):
                holder[key], holder[-1] = holder[-1], holder[key]
            else:
                holder[random.choice((*HOSTILE, f"{key} ", f"{key}0", "extra"))] = holder.pop(key)
    return copy


def _mutated(data: bytes, random: Random, written: Callable[[Any], bytes]) -> bytes:
    chance = random.random()
    # What aliases unfold to must not be unfolded here, nor a long number read.
    if chance < 0.1 or (b"&" in data and b"*" in data) or any(part in data for part in _LONG_PARTS):
        return mutated_bytes(data, random)
    if chance < 0.25:
        return mutated_text(data, _YAML_WORDS, random)
    try:
        text = data.decode()
        tree = json.loads(text) if text.startswith("{") else yaml.load(text, Loader=yaml.CSafeLoader)
        return written(mutated_tree(tree, random))[:LARGEST_BYTES]
    except Exception:  # whatever the parsers of broken text raise
        return mutated_bytes(data, random)


def _descended(tree: Any, random: Random) -> tuple[Any, Any] | None:
    """A container of the tree and one of its keys: the deeper the container lies, the fewer others it has beside it."""
    place: tuple[Any, Any] | None = None
    here = tree
    while isinstance(here, dict | list) and here and (place is None or random.random() < 0.8):
        key = random.choice(list(here)) if isinstance(here, dict) else random.randrange(len(here))
        place, here = (here, key), here[key]
    return place


def _deep(value: Any) -> Any:
    for _ in range(200):
        value = [value]
    return value


def _nudged(value: Any, random: Random) -> Any:
    if isinstance(value, bool) or value is None:
        return random.choice((0, 1, "", not value))
    if isinstance(value, int):
        return random.choice((value + 1, value - 1, -value, 2 * value, value << 20, float(value), str(value)))
    if isinstance(value, float):
        return random.choice((-value, value * 1e6, value / 1e6, 1e300 * value, str(value)))
    if isinstance(value, str):
        return random.choice(
            (value + value, value[:-1], value.upper(), f"{value}\0", f"../{value}", value.encode().hex())
        )
    return [value, value]


class _Dumper(yaml.CSafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True
