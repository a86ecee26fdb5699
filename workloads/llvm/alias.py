"""What LLVM's metadata says of memory: pointers that never lead to the same words though nothing else tells them apart.

Two accesses are apart if the scopes of one are among those that the other is said not to touch (``!alias.scope`` and
``!noalias``, what ``restrict`` leaves behind where a function was inlined), or if they access types of which neither
holds the other (``!tbaa``, C's rule of types). Scopes that are declared inside the loop hold for an iteration alone,
and say nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mapper.workloads.llvm.module import IrLoop

_NODE = re.compile(r"^!(\d+) = (?:distinct )?!\{(.*)\}$", re.MULTILINE)
_OPERAND = re.compile(r'\s*(?:!"(?:[^"\\]|\\.)*"|!(\d+)|[^,]+)')
_ATTACHED = re.compile(r"!(alias\.scope|noalias|tbaa) !(\d+)")
_DECLARED = re.compile(r"@llvm\.experimental\.noalias\.scope\.decl\(metadata !(\d+)\)")
MOST_STEPS = 100
"""From a type to the root of its tree."""


@dataclass(frozen=True)
class Said:
    """What one access says: the list of scopes it is of, that of scopes it does not touch, and its type's tag."""

    scopes: str | None = None
    apart_from: str | None = None
    tag: str | None = None


def said(instruction: Any) -> Said:
    """The metadata of a load or store."""
    found = dict(_ATTACHED.findall(str(instruction)))
    return Said(found.get("alias.scope"), found.get("noalias"), found.get("tbaa"))


@dataclass(frozen=True)
class AliasMetadata:
    """The metadata of the module that ``loop`` is in."""

    loop: IrLoop

    @cached_property
    def _nodes(self) -> dict[str, list[str | None]]:
        """Per node its operands: the numbers of nodes, None for anything else."""
        return {
            number: [one[1] for one in _OPERAND.finditer(operands) if one[0].strip()]
            for number, operands in _NODE.findall(str(self.loop.module))
        }

    @cached_property
    def _of_an_iteration(self) -> frozenset[str]:
        """Scopes that are declared inside the loop."""
        lists = [
            number
            for block in self.loop.blocks
            for one in block.instructions
            for number in _DECLARED.findall(str(one))
        ]
        return frozenset(scope for number in lists for scope in self._listed(number))

    def apart(self, accesses: Mapping[str, list[Said]], base: str, others: frozenset[str]) -> bool:
        """Whether no access of ``base`` touches what one of ``others`` does."""
        return all(
            self._two_apart(one, other)
            for name in others - {base}
            for one in accesses.get(base, [Said()])
            for other in accesses.get(name, [Said()])
        )

    def told_apart(self, accesses: Mapping[str, list[Said]], aliases: frozenset[str]) -> frozenset[str]:
        """Those of ``aliases`` that share no word with any other of them."""
        if not any(one != Said() for each in accesses.values() for one in each):
            return frozenset()
        return frozenset(base for base in aliases if self.apart(accesses, base, aliases))

    def _two_apart(self, one: Said, other: Said) -> bool:
        return (
            self._scoped_apart(one.scopes, other.apart_from)
            or self._scoped_apart(other.scopes, one.apart_from)
            or self._typed_apart(one.tag, other.tag)
        )

    def _scoped_apart(self, scopes: str | None, apart_from: str | None) -> bool:
        """Whether, of some domain, the other access touches none of the scopes that this one is of."""
        if scopes is None or apart_from is None:
            return False
        own, refused = set(self._listed(scopes)), set(self._listed(apart_from)) - self._of_an_iteration
        for domain in {self._domain(one) for one in refused} - {None}:
            inside = {one for one in own if self._domain(one) == domain}
            if inside and inside <= refused:
                return True
        return False

    def _listed(self, number: str) -> list[str]:
        return [one for one in self._nodes.get(number, []) if one is not None]

    def _domain(self, scope: str) -> str | None:
        operands = self._nodes.get(scope, [])
        return operands[1] if len(operands) > 1 else None

    def _typed_apart(self, one: str | None, other: str | None) -> bool:
        """Whether neither type is above the other in the same tree."""
        if one is None or other is None:
            return False
        first, second = self._line(one), self._line(other)
        return bool(
            first and second and first[-1] == second[-1] and first[0] not in second and second[0] not in first
        )

    def _line(self, tag: str) -> list[str]:
        """The type that a tag says is accessed, and those above it; none for anything but a number's type."""
        operands = self._nodes.get(tag, [])
        at = operands[1] if len(operands) > 2 else None
        found: list[str] = []
        while at is not None and len(found) < MOST_STEPS:
            found.append(at)
            above = self._nodes.get(at, [])
            if len(above) > 3:
                return []
            at = above[1] if len(above) > 1 else None
        return found
