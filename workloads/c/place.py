"""Where a subscript, ``*`` or a member of a structure leads: an array, and the index of a word.

A structure has an array for each of its members, ``name.member``, that is indexed as the structures are; so members of
one structure never share a word, and members of nested structures have longer names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from mapper.workloads.c.conversion import Conversions
from mapper.workloads.c.type import type_of, underlying
from mapper.workloads.loop.array import LARGEST_ARRAY_WORDS
from mapper.workloads.loop.body import Value, integer
from mapper.workloads.loop.kind import FLOATING, INT, ArrayShape

MOST_MEMBERS = 1000
"""Members of structures that one function touches."""


@dataclass
class Places(Conversions, ABC):
    """Finds the words that expressions name. ``structures``: the arrays whose elements are structures, by name."""

    structures: dict[str, c_ast.Struct] = field(default_factory=dict)

    @abstractmethod
    def value(self, node: c_ast.Node, predicate: Value | None) -> Value:
        """The value of an expression."""

    def place(self, node: c_ast.Node, predicate: Value | None) -> tuple[str, Value]:
        """The array that a subscript, a member or ``*`` touches, and the index of the word, row after row."""
        if isinstance(node, c_ast.UnaryOp):
            pointer = self.value(node.expr, predicate)
            if pointer.base is None:
                raise self.fault(node, "* needs a pointer into an array; use a subscript")
            return pointer.base, replace(pointer, base=None)
        if isinstance(node, c_ast.ID):
            return str(node.name), integer(0)
        subscripts: list[c_ast.Node] = []
        base: c_ast.Node = node
        while isinstance(base, c_ast.ArrayRef):
            subscripts.insert(0, base.subscript)
            base = base.name
        sizes: tuple[int | None, ...] = (None,)
        index: Value | None = None
        if isinstance(base, c_ast.StructRef):
            name, index = self._member(base, predicate)
            rows = self.arrays[name].sizes[self._dimensions(name) :]
            for size in rows:
                # The index of the structure becomes that of the first word of its row.
                index = self.arithmetic("*", index, integer(size or 0), node)
            sizes = (None, *rows[1:]) if rows else ()
        elif isinstance(base, c_ast.ID) and base.name in self.arrays and base.name not in self.scalars:
            name = str(base.name)
            sizes = self.arrays[name].sizes
        else:
            pointer = self.value(base, predicate)
            if pointer.base is None:
                shown = str(getattr(base, "name", "it"))[:40]
                raise self.fault(node, f"{shown} is no array that is known here; declare it as an array")
            name, index = pointer.base, replace(pointer, base=None)
            sizes = (None, *self.arrays[name].sizes[1:]) if pointer.literal == 0 else (None,)
        if len(subscripts) > len(sizes):
            raise self.fault(node, f"{name[:40]} has {len(sizes)} subscripts; give that many")
        return name, self._index(node, name, index, subscripts, sizes, predicate)

    def rows_left(self, node: c_ast.Node, array: str) -> bool:
        """Whether ``node``, which leads into ``array``, names a row of it and no word."""
        depth, base = 0, node
        while isinstance(base, c_ast.ArrayRef):
            depth, base = depth + 1, base.name
        sizes = len(self.arrays[array].sizes)
        if isinstance(base, c_ast.StructRef):
            return depth < sizes - self._dimensions(array)
        declared = isinstance(base, c_ast.ID) and base.name == array and array not in self.scalars
        return declared and depth < sizes

    def _dimensions(self, member: str) -> int:
        """How many dimensions the structures have that a member's array is one of."""
        return len(self.arrays[member.rpartition(".")[0]].sizes)

    def _structure(self, node: c_ast.StructRef, predicate: Value | None) -> tuple[str, Value]:
        """The array of the structures that ``node`` is a member of, and the index of the structure."""
        if node.type == "->" or not isinstance(
            node.name, c_ast.ID | c_ast.ArrayRef | c_ast.UnaryOp | c_ast.StructRef
        ):
            pointer = self.value(node.name, predicate)
            name, index = pointer.base, replace(pointer, base=None)
        else:
            name, index = self.place(node.name, predicate)
        if name is None or name not in self.structures:
            shown = str(getattr(node.name, "name", "it"))[:40]
            raise self.fault(
                node, f"{shown} is no structure that is known here; declare it as an array of them"
            )
        return name, index

    def _member(self, node: c_ast.StructRef, predicate: Value | None) -> tuple[str, Value]:
        """The array of a member, and the index of the structure."""
        base, index = self._structure(node, predicate)
        member = str(node.field.name)
        name = f"{base}.{member}"
        if name not in self.arrays:
            self._declare_member(node, base, member, name)
        return name, index

    def _declare_member(self, node: c_ast.StructRef, base: str, member: str, name: str) -> None:
        declared = [one for one in self.structures[base].decls or [] if one.name == member]
        if not declared or declared[0].bitsize is not None:
            raise self.fault(node, f"{name[:60]} is no member with words of its own; use a plain member")
        outer = self.arrays[base]
        inner: c_ast.Node = underlying(declared[0].type, self.place_of_loop.types)
        sizes = list(outer.sizes)
        while isinstance(inner, c_ast.ArrayDecl):
            size = None if inner.dim is None else self.value(inner.dim, None).literal
            if size is None or size < 1:
                raise self.fault(node, f"{name[:60]} has no size that is known; give a number")
            sizes.append(size)
            inner = inner.type
        structure = self.structure_of(inner)
        found = INT if structure is not None else type_of(inner, self.place_of_loop.types)
        if found is None:
            raise self.fault(node, f"{name[:60]} is no number; use a member that is one")
        shape = ArrayShape(found, tuple(sizes), outer.aliases)
        if (shape.words or 0) > LARGEST_ARRAY_WORDS or len(self.arrays) > MOST_MEMBERS:
            raise self.fault(node, f"{name[:60]}: too many words or members; use smaller structures")
        self.arrays[name] = shape
        if structure is not None:
            self.structures[name] = structure

    def structure_of(self, node: c_ast.Node) -> c_ast.Struct | None:
        """The structure that a type names, with its members, if it is one."""
        wanted = underlying(node, self.place_of_loop.types)
        inner = wanted.type if isinstance(wanted, c_ast.TypeDecl) else wanted
        if not isinstance(inner, c_ast.Struct):
            return None
        return inner if inner.decls else self.place_of_loop.structures.get(str(inner.name))

    def _index(
        self, node: c_ast.Node, name: str, start: Value | None, subscripts: list[c_ast.Node],
        sizes: tuple[int | None, ...], predicate: Value | None,
    ) -> Value:  # fmt: skip
        """The index of the word, or of the first word of a row where subscripts are left out."""
        index: Value | None = None
        for position, size in enumerate(sizes):
            term: Value | None = None
            if position < len(subscripts):
                term = self.value(subscripts[position], predicate)
                if term.kind in FLOATING or term.base is not None:
                    raise self.fault(node, "a subscript is an integer; cast it")
            if index is not None:
                if size is None:
                    raise self.fault(node, f"a row of {name[:40]} has no size that is known; declare it")
                index = self.arithmetic("*", index, integer(size), node)
            index = (
                term if index is None else index if term is None else self.arithmetic("+", index, term, node)
            )
        if index is None:
            return integer(0) if start is None else start
        return index if start is None else self.arithmetic("+", start, index, node)
