"""The way to a loop: declarations, what comes before it, and the loops around it.

The loops around the chosen one stand at their first iteration, or, where the loop would then not run (triangular
loops), in their middle. Statements before the loop that are outside the subset leave their scalars unknown, and
unknown scalars are live-ins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from pycparser import c_ast

from mapper.workloads.c.file import LOOPS, LoopPlace
from mapper.workloads.c.loop import LoopHeader, header_of
from mapper.workloads.c.name import assigned, calls, holds, names_in, parameters_of, stores
from mapper.workloads.c.statement import Statements
from mapper.workloads.c.type import type_of, underlying
from mapper.workloads.document import InputError
from mapper.workloads.loop.affine import Form
from mapper.workloads.loop.array import LARGEST_ARRAY_WORDS
from mapper.workloads.loop.body import LoopBody, Value, integer, live_in
from mapper.workloads.loop.kind import FLOATING, INT, ArrayShape, Kind

ASSUMED_INTEGER = 8
ASSUMED_FLOAT = 0.5
"""The first parameter of its type; each further one is one, or a half, more, so that mixing them up shows."""


class Way(Statements, ABC):
    """Follows a function to its loop; ``middle``: the loops around it stand in their middle; ``least``: the number that
    the first integer parameter stands at. ``symbols``: the numbers
    that live-ins stand at, ``assumed``: those of them that are this project's choice, by the name of the scalar;
    ``bounds``: what the variables of the loops around the kernel are at least and at most."""

    def __init__(self, place: LoopPlace, passes: frozenset[str], middle: bool = False,
                 least: int = ASSUMED_INTEGER) -> None:  # fmt: skip
        super().__init__(place, LoopBody("entry" in passes))
        self.middle, self.least = middle, least
        self.passes = passes
        self.inside = False
        self.assumed: dict[str, str] = {}
        self.symbols: dict[str, int] = {}
        self.bounds: dict[str, tuple[Form | None, Form | None]] = {}
        self.header: LoopHeader | None = None
        self.moving = assigned(place.function)
        for node in (*place.declarations, *place.types.values(), place.function):
            self._enumerators(node)
        named = names_in(place.function).union(*map(names_in, place.callees.values()))
        for declaration in place.declarations:
            if str(declaration.name) in named and str(declaration.name) not in self.arrays:
                self._attempt(declaration)
        for parameter in parameters_of(place.function):
            self._parameter(parameter)
        self._way(place.function.body)

    def _enumerators(self, node: c_ast.Node) -> None:
        """The constants of the enumerations under ``node``."""
        if isinstance(node, c_ast.Enum) and node.values is not None:
            last = -1
            for one in node.values.enumerators:
                found = None if one.value is None else self.value(one.value, None).literal
                last = last + 1 if found is None else found
                self.scalars[str(one.name)] = integer(last)
        for _, child in node.children():
            self._enumerators(child)

    def _parameter(self, parameter: c_ast.Decl) -> None:
        name = str(parameter.name)
        wanted = underlying(parameter.type, self.place_of_loop.types)
        if isinstance(wanted, c_ast.PtrDecl | c_ast.ArrayDecl) or self.structure_of(wanted) is not None:
            try:
                self._array(parameter)
                self._moving(parameter)
            except InputError:
                # An array that cannot be read hurts only who touches it.
                self.arrays.pop(name, None)
            return
        found = type_of(wanted, self.place_of_loop.types)
        if found is not None:
            self.set_type(name, found, parameter)
            self._assume(name)

    def _assume(self, name: str) -> None:
        """Makes an unknown scalar a live-in."""
        kind = self.types[name].kind
        floating = kind in FLOATING
        before = sum(
            (self.types[other].kind in FLOATING) == floating for other in self.assumed if other in self.types
        )
        number = ASSUMED_FLOAT * (1 + before) if floating else self.least + before
        self.assumed.pop(name, None)
        value = self._named(name, kind, number)
        self.scalars[name] = value
        mark = next(iter(value.form), (name,))[0] if value.form else name
        self.assumed[name] = mark

    def _named(self, name: str, kind: Kind, number: int | float) -> Value:
        """A live-in under a symbol of its own."""
        mark = name if name not in self.symbols else f"{name}'{len(self.symbols)}"
        if kind not in FLOATING:
            self.symbols[mark] = int(number)
        return live_in(mark, kind, number)

    def _array(self, declaration: c_ast.Decl) -> None:
        """An array, or a pointer, which may alias others unless it is ``restrict``; or a single structure."""
        name = str(declaration.name)
        sizes: list[int | None] = []
        inner: c_ast.Node = underlying(declaration.type, self.place_of_loop.types)
        pointer = isinstance(inner, c_ast.PtrDecl)
        if pointer:
            sizes.append(None)
            aliases = "restrict" not in inner.quals
            inner = inner.type
        while isinstance(inner, c_ast.ArrayDecl):
            size = None if inner.dim is None else self.value(inner.dim, None).literal
            # The first size places no word, so that one given by a parameter is as good as none.
            if (size is None and sizes) or (size is not None and size < 1):
                raise self.fault(
                    declaration, "the size of an array is not a positive constant; give a number"
                )
            sizes.append(size)
            inner = inner.type
        structure = self.structure_of(inner)
        self.structures.pop(name, None)
        kind = INT if structure is not None else self.type_named(inner)
        shape = ArrayShape(kind, tuple(sizes) or (1,), pointer and aliases)
        if (shape.words or 0) > LARGEST_ARRAY_WORDS:
            raise self.fault(declaration, f"larger than {LARGEST_ARRAY_WORDS} words; give a smaller array")
        for member in [one for one in self.arrays if one.startswith(f"{name}.")]:
            del self.arrays[member]
        self.arrays[name] = shape
        if structure is not None:
            self.structures[name] = structure

    def declare(self, declaration: c_ast.Decl, predicate: Value | None) -> None:
        """What a declaration before the loop, or in it, brings."""
        wanted = underlying(declaration.type, self.place_of_loop.types)
        if self.inside:
            return super().declare(declaration, predicate)
        name = str(declaration.name)
        if isinstance(wanted, c_ast.FuncDecl):
            return None
        for known in (self.arrays, self.types, self.scalars, self.assumed):
            known.pop(name, None)
        if isinstance(wanted, c_ast.ArrayDecl) or self.structure_of(wanted) is not None:
            self._array(declaration)
            if declaration.init is not None:
                self.note(
                    f"the values that {name} starts with are not read: its words are those of the memory"
                )
        elif isinstance(wanted, c_ast.PtrDecl):
            self._pointer(declaration)
        else:
            self.set_type(name, self.type_named(wanted), declaration)
            self.scalars[name] = None
            if declaration.init is not None:
                self.assign(name, self.value(declaration.init, predicate), declaration)
        return None

    def _pointer(self, declaration: c_ast.Decl) -> None:
        """A pointer is one into an array that is known, or leads to an array of its own."""
        name = str(declaration.name)
        if declaration.init is not None:
            try:
                found = self.value(declaration.init, None)
            except InputError:
                found = integer(0)
            if found.base is not None:
                self.set_type(name, INT, declaration)
                self.scalars[name] = found
                return
        self._array(declaration)
        self._moving(declaration)

    def _moving(self, declaration: c_ast.Decl) -> None:
        """A pointer that the function moves is a scalar, which leads to the first word of an array of its own."""
        name = str(declaration.name)
        if name in self.moving:
            self.set_type(name, INT, declaration)
            self._unknown(name)

    def _unknown(self, name: str) -> None:
        """What the scalar is, is not known from here on; a pointer leads to an array of its own."""
        own = name in self.arrays and name in self.moving
        self.scalars[name] = replace(integer(0), base=name) if own else None

    def _attempt(self, node: c_ast.Node) -> None:
        """A statement before the loop; where it is outside the subset, what it assigns is unknown."""
        touched = stores(node)
        before = dict(self.scalars), dict(self.types)
        try:
            if isinstance(node, c_ast.Decl):
                self.declare(node, None)
            elif isinstance(node, c_ast.DeclList):
                for declaration in node.decls:
                    self.declare(declaration, None)
            elif isinstance(node, c_ast.Assignment) and not touched:
                self.statement(node, None)
            else:
                raise self.fault(node, "is not followed")
        except InputError:
            self.scalars, self.types = (
                before if not isinstance(node, c_ast.Decl | c_ast.DeclList) else (self.scalars, self.types)
            )
            for name in self._changed(node) & self.scalars.keys():
                self._unknown(name)
        if touched:
            self._forget_memory()

    def _forget_memory(self) -> None:
        """Values that were read from memory that has changed since are live-ins from now on."""
        for name, value in self.scalars.items():
            if value is not None and value.node is not None and self._reads(value.node):
                self._unknown(name)
        for array in self.arrays:
            self.body.versions[array] = self.body.versions.get(array, 0) + 1

    def _reads(self, node: int) -> bool:
        waiting, seen = [node], set[int]()
        while waiting:
            at = waiting.pop()
            if self.body.nodes[at].opcode == "load":
                return True
            if at not in seen:
                seen.add(at)
                waiting += [one.node for one in self.body.nodes[at].operands if one.node is not None]
        return False

    def _changed(self, node: c_ast.Node) -> frozenset[str]:
        """Scalars that ``node`` may change, by calls too."""
        found = assigned(node)
        waiting, seen = list(calls(node)), set[str]()
        globals_ = {str(one.name) for one in self.place_of_loop.declarations}
        while waiting:
            name = waiting.pop()
            callee = self.place_of_loop.callees.get(name)
            if callee is not None and name not in seen:
                seen.add(name)
                found |= assigned(callee.body) & globals_
                waiting += calls(callee.body)
        return found

    def _way(self, node: c_ast.Node) -> None:
        """Follows the statements that lead to the loop, then lowers the loop."""
        loop = self.place_of_loop.loop
        if node is loop:
            self.loop()
        elif isinstance(node, c_ast.Compound):
            for statement in node.block_items or []:
                if holds(statement, loop):
                    self._way(statement)
                    return
                self._attempt(statement)
        elif isinstance(node, c_ast.For):
            self._around(node)
            self._way(node.stmt)
        elif isinstance(node, c_ast.Case | c_ast.Default):
            self._way(c_ast.Compound(list(node.stmts or []), node.coord))
        else:
            if isinstance(node, c_ast.If | c_ast.Switch):
                self.note("the condition around the kernel is taken to hold as the text reaches the loop")
            elif isinstance(node, LOOPS):
                for name in self._changed(node) & self.scalars.keys():
                    self._unknown(name)
            self._way(next(child for _, child in node.children() if holds(child, loop)))

    def _around(self, node: c_ast.For) -> None:
        """A loop around the chosen one: its variable is a live-in within its bounds."""
        self._start(node)
        changed = self._changed(node.stmt)
        header = header_of(node, self, changed)
        for one in (node.cond, node.next):
            changed |= assigned(one) if one is not None else frozenset()
        first = dict(self.scalars)
        for scalar in sorted(changed & self.scalars.keys()):
            found = self.scalars[scalar]
            if found is not None and found.node is None and found.base is None:
                self.scalars[scalar] = self._named(scalar, found.kind, found.number)
        if header is None:
            return
        name, start = header.variable, first[header.variable]
        found = self.scalars[name]
        if start is None or found is None or found.node is not None or not found.form:
            return
        middle = self.middle and header.runs is not None and header.runs > 1
        number = int(start.number) + header.step * ((header.runs or 0) // 2) if middle else int(start.number)
        ((mark,),) = found.form
        self.symbols[mark] = number
        self.bounds[mark] = header.ends
        self.scalars[name] = live_in(mark, found.kind, number)
        where = "in its middle" if middle else "at its first iteration"
        self.note(f"the loop over {name} around the kernel stands {where}")

    def _start(self, loop: c_ast.Node) -> None:
        """Does what a for loop starts with; scalars that this takes and nobody knows are live-ins."""
        if isinstance(loop, c_ast.For) and loop.init is not None:
            written = assigned(loop.init)
            for name in sorted(names_in(loop.init) & self.scalars.keys() - written):
                if self.scalars[name] is None:
                    self._assume(name)
            self._attempt_all(loop.init)

    def _attempt_all(self, node: c_ast.Node) -> None:
        for one in node.exprs if isinstance(node, c_ast.ExprList) else [node]:
            self._attempt(one)

    @abstractmethod
    def loop(self) -> None:
        """Lowers the chosen loop."""
