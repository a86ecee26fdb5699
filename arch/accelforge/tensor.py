"""AccelForge's sets of tensors: what a memory keeps and may keep, and what a fan-out reuses."""

from __future__ import annotations

import re
from typing import Any

from mapper.workloads.document import InputError

ROLES = {"input": "I", "weight": "W", "output": "O"}
LACKING = {"input": ["K"], "weight": ["N", "P", "Q"], "output": ["C", "R", "S"]}
"""Loops that a tensor lacks: those along which it is reused."""
ALL = frozenset("IWO")
_NAME = re.compile(r"(~?)\s*([A-Za-z_]\w*)(\.tensors)?")


class Kept:
    """What memories keep, outer to inner: sets may name those of memories outside."""

    def __init__(self) -> None:
        self._by_name: dict[str, frozenset[str]] = {
            "All": ALL,
            "Nothing": frozenset(),
            "Intermediates": frozenset(),
        }
        self._outermost = True

    def of(self, node: dict[str, Any], source: str) -> dict[str, list[str]]:
        """``keep`` and ``bypass`` of a memory.

        Raises: InputError if a set is none that is known.
        """
        name = str(node.get("name"))
        given = node.get("tensors") or {}
        if not isinstance(given, dict) or set(given) - {"keep", "may_keep"}:
            raise InputError(source, f"{name[:40]}.tensors", "may hold keep and may_keep")
        must = self._set(given.get("keep", "Nothing"), source, f"{name[:40]}.tensors.keep")
        may = self._set(given.get("may_keep", "Nothing"), source, f"{name[:40]}.tensors.may_keep") | must
        if self._outermost and may != ALL:
            raise InputError(source, f"{name[:40]}.tensors", "the outermost memory must keep all tensors")
        self._by_name[name] = ALL if self._outermost else must
        keep = ["*"] if self._outermost else sorted(must)
        self._outermost = False
        return {"keep": keep, "bypass": sorted(ALL - may)}

    def _set(self, text: Any, source: str, field: str) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for part in str(text)[:400].split("|"):
            one = _NAME.fullmatch(part.strip())
            known = None
            if one is not None:
                role = ROLES.get(one[2])
                known = frozenset({role}) if role else self._by_name.get(one[2])
            if one is None or known is None:
                raise InputError(
                    source, field, f"{part.strip()[:40]!r} is no set of input, weight and output; name them"
                )
            found |= ALL - known if one[1] else known
        return found


def carried(text: str, source: str, field: str) -> list[str]:
    """The loops along which the tensors of a set are reused.

    Raises: InputError if it is not one of ``input``, ``weight``, ``output``.
    """
    if text not in LACKING:
        raise InputError(
            source, field, f"{text[:40]!r} must be one of {', '.join(LACKING)} to be represented"
        )
    return LACKING[text]
