"""What the host runs of a function in C: everything outside its innermost loops, exactly as the text says."""

from __future__ import annotations

from pycparser import c_ast

from mapper.workloads.c.file import LOOPS, Loop, LoopPlace
from mapper.workloads.c.loop import MIRRORED, LoopHeader
from mapper.workloads.c.name import assigned, ends, has, names_in
from mapper.workloads.c.type import type_of, underlying
from mapper.workloads.c.way import Way
from mapper.workloads.c.whole.flattened import FlattenedLoop, inner_of
from mapper.workloads.c.whole.started import StartedLoop
from mapper.workloads.graph.dataflow_graph import Number
from mapper.workloads.graph.kernel import EntryOperation, Kernel
from mapper.workloads.loop.body import LoopBody, Node, Value
from mapper.workloads.loop.kind import ArrayShape, bits_of
from mapper.workloads.loop.start import GIVEN_NAME
from mapper.workloads.whole.program import (
    BOUND,
    CONDITION,
    Block,
    Branch,
    Count,
    Repeat,
    Segment,
    Start,
    Statement,
)

Nodes = list[c_ast.Node]
Lowered = dict[int, tuple[int, StartedLoop, Kernel]]
"""Per loop of the text (by what Python calls it) its number, how it was read, and its kernel."""


class Host(Way):
    """Reads a function around its innermost loops, which are lowered already. ``program``: the function;
    ``first``: what its scalars stand at before anything runs; ``shapes``: every array."""

    def __init__(self, place: LoopPlace, passes: frozenset[str], lowered: Lowered) -> None:
        self.lowered_loops = lowered
        self.program: Block = ()
        self.first: dict[str, Number] = {}
        self.enclosing: list[set[str]] = []
        self.shapes: dict[str, ArrayShape] = {}
        super().__init__(place, passes)

    def loop(self) -> None:
        """Loops are read one by one, where they stand."""

    def _way(self, node: c_ast.Node) -> None:
        """Reads the whole function."""
        for name, value in self.scalars.items():
            if value is not None and value.base is not None:
                raise self.fault(
                    self.place_of_loop.function, f"{name[:40]} is a pointer that moves; use subscripts"
                )
            if value is not None and value.node is None and name in self.types:
                self.first[name] = value.number
        self.constants = {name: value for name, value in self.scalars.items() if name not in self.types}
        self.enclosing.append(set(self.types))
        self.program = self._statements(_until_return(_items(node)))

    def _statements(self, statements: Nodes) -> Block:
        """Statements one after another, those without loops in them together."""
        found: list[Statement] = []
        plain: Nodes = []
        self.enclosing.append(set())
        for statement in statements:
            if has(statement, LOOPS):
                found += [self._segment(plain), *self._nested(statement)]
                plain = []
            elif not self._declared(statement):
                plain.append(statement)
        found.append(self._segment(plain))
        self._close()
        self.shapes |= self.arrays
        return tuple(one for one in found if one != Segment())

    def _close(self) -> None:
        """Forgets what a scope has declared."""
        for name in self.enclosing.pop():
            self.types.pop(name, None)
            self.constants.pop(name, None)

    def _declared(self, node: c_ast.Node) -> bool:
        """Notes what a declaration brings; whether that is all there is to it."""
        nodes = node.decls if isinstance(node, c_ast.DeclList) else [node]
        done = True
        for one in nodes:
            if not isinstance(one, c_ast.Decl):
                return False
            name, wanted = str(one.name), underlying(one.type, self.place_of_loop.types)
            if any(name in scope for scope in self.enclosing) or name in self.arrays:
                raise self.fault(one, f"{name[:40]} is declared twice; rename one")
            if isinstance(wanted, c_ast.ArrayDecl) or self.structure_of(wanted) is not None:
                self._array(one)
                if one.init is not None:
                    raise self.fault(one, f"{name[:40]} starts with values; assign them")
                continue
            if isinstance(wanted, c_ast.PtrDecl):
                self._point(one)
                continue
            found = type_of(wanted, self.place_of_loop.types)
            if found is None:
                raise self.fault(one, f"{name[:40]} is no number and no array; use subscripts of an array")
            self.set_type(name, found, one)
            self.enclosing[-1].add(name)
            done = done and one.init is None
        return done

    def _point(self, node: c_ast.Decl) -> None:
        """A pointer that leads to one word of an array as long as it is known."""
        name, found = str(node.name), None
        if node.init is not None and name not in self.moving and not names_in(node.init) & self.types.keys():
            self.scalars = dict(self.constants)
            found = self.value(node.init, None)
        if found is None or found.base is None or found.literal is None:
            raise self.fault(node, f"{name[:40]} is a pointer that moves; use subscripts")
        self.constants[name] = found
        self.enclosing[-1].add(name)

    def _segment(self, statements: Nodes, value: c_ast.Node | None = None, name: str = CONDITION) -> Segment:
        """``statements`` as straight-line code, and then ``value``, if given, as the result ``name``: as a truth if
        that is ``CONDITION``."""
        self.body = LoopBody()
        self.scalars = dict(self.constants)
        named = frozenset[str]().union(
            *map(names_in, statements), *([] if value is None else [names_in(value)])
        )
        for scalar in sorted(self.types.keys() & (named | _initialised(statements))):
            self.body.nodes.append(Node("scalar", (), self.types[scalar].kind, label=scalar))
            self.scalars[scalar] = Value(self.types[scalar].kind, len(self.body.nodes) - 1)
        before = {scalar: found for scalar, found in self.scalars.items() if scalar in self.types}
        self.inside = True
        for statement in statements:
            self._check(statement)
            self._run(statement)
        results: list[tuple[str, Value]] = []
        if value is not None:
            found = self.value(value, None)
            results.append((name, self.truth(found) if name == CONDITION else found))
        self.inside = False
        for scalar, old in before.items():
            new = self.scalars[scalar]
            if new is not None and old is not None and new.key != old.key:
                if new.base is not None:
                    raise self.fault(statements[0], f"{scalar[:40]} is a pointer that moves; use subscripts")
                results.insert(0, (scalar, new))
        return self._listed(results)

    def _run(self, statement: c_ast.Node) -> None:
        """One statement; scalars that it declares here are known already."""
        if not isinstance(statement, c_ast.Decl | c_ast.DeclList):
            return self.statement(statement, None)
        for one in statement.decls if isinstance(statement, c_ast.DeclList) else [statement]:
            if one.init is not None and str(one.name) in self.types:
                self.assign(str(one.name), self.value(one.init, None), one)
        return None

    def _check(self, statement: c_ast.Node) -> None:
        if ends(statement) or has(statement, (c_ast.Continue, c_ast.Goto, c_ast.Label)):
            raise self.fault(statement, "a jump between loops is outside the subset; use if")

    def _listed(self, results: list[tuple[str, Value]]) -> Segment:
        """The operations that stores and results need."""
        nodes = self.body.nodes
        waiting = [index for index, node in enumerate(nodes) if node.opcode == "store"]
        waiting += [value.node for _, value in results if value.node is not None]
        needed: set[int] = set()
        while waiting:
            index = waiting.pop()
            if index not in needed:
                needed.add(index)
                waiting += [one.node for one in nodes[index].operands if one.node is not None]
        operations = tuple(
            EntryOperation(f"%{index}", nodes[index].opcode, tuple(map(self._named_operand, nodes[index].operands)),
                           nodes[index].array)
            for index in sorted(needed)
            if nodes[index].opcode != "scalar"
        )  # fmt: skip
        return Segment(operations, tuple((name, self._named_operand(value)) for name, value in results))

    def _named_operand(self, value: Value) -> Number | str:
        if value.node is None:
            return value.number
        node = self.body.nodes[value.node]
        return node.label if node.opcode == "scalar" else f"%{value.node}"

    def _nested(self, node: c_ast.Node) -> Block:
        """A statement with loops in it."""
        if isinstance(node, c_ast.Compound):
            return self._statements(list(node.block_items or []))
        if isinstance(node, c_ast.If):
            condition = self._segment([], node.cond)
            taken = self._statements([node.iftrue])
            return (
                Branch(condition, taken, self._statements([] if node.iffalse is None else [node.iffalse])),
            )
        if not isinstance(node, LOOPS):
            raise self.fault(node, f"{type(node).__name__} around a loop is outside the subset; use if")
        self.enclosing.append(set())
        kernel = id(node) in self.lowered_loops
        found = (self._start_of(node) if kernel else self._repeat(node),)
        self._close()
        return found

    def _init(self, node: Loop) -> Nodes:
        """What a loop starts with, declared."""
        init = getattr(node, "init", None)
        if init is None:
            return []
        self._declared(init)
        return list(init.exprs) if isinstance(init, c_ast.ExprList) else [init]

    def _repeat(self, node: Loop) -> Repeat:
        before = self._segment(self._init(node))
        asked = c_ast.Constant("int", "1", node.coord) if node.cond is None else node.cond
        condition = self._segment([], asked)
        after = getattr(node, "next", None)
        steps = [] if after is None else list(after.exprs) if isinstance(after, c_ast.ExprList) else [after]
        body = self._statements([node.stmt])
        return Repeat(before, condition, body, self._segment(steps), not isinstance(node, c_ast.DoWhile))

    def _start_of(self, node: Loop) -> Start:
        number, read, kernel = self.lowered_loops[id(node)]
        header = read.header
        assert header is not None  # others are run by the host
        if has(node.stmt, (c_ast.Return,)):
            raise self.fault(node, "a return inside the loop leaves the function; map the loop alone")
        before = self._segment(self._init(node), _bound(node, header), BOUND)
        given = tuple(
            (one.name, read.given[one.name.removeprefix(GIVEN_NAME)])
            for one in kernel.entry
            if one.name.removeprefix(GIVEN_NAME) in read.given and one.name.startswith(GIVEN_NAME)
        )
        inner = None
        if isinstance(read, FlattenedLoop) and read.inner_header is not None:
            within = inner_of(node)
            assert within is not None
            begun = self._segment(self._init(within), _bound(within, read.inner_header), BOUND)
            inner = begun, _count(read.inner_header)
        return Start(number, before, _count(header), given, read.kept, inner)


def _items(node: c_ast.Node | None) -> Nodes:
    return (
        list(node.block_items or []) if isinstance(node, c_ast.Compound) else [] if node is None else [node]
    )


def _until_return(statements: Nodes) -> Nodes:
    """The same without its returns: what follows an ``if`` that returns is done where it does not."""
    for at, one in enumerate(statements):
        if isinstance(one, c_ast.Return):
            return statements[:at]
        if isinstance(one, c_ast.If) and has(one, (c_ast.Return,)) and not has(one, LOOPS):
            rest = statements[at + 1 :]
            sides = [_items(one.iftrue), _items(one.iffalse)]
            if not any(side and isinstance(side[-1], c_ast.Return) for side in sides):
                return statements  # a return deeper inside is no plain way out
            taken, other = (
                c_ast.Compound(_until_return(side if _leaves(side) else [*side, *rest]), one.coord)
                for side in sides
            )
            return [*statements[:at], c_ast.If(one.cond, taken, other, one.coord)]
    return statements


def _leaves(statements: Nodes) -> bool:
    return bool(statements) and isinstance(statements[-1], c_ast.Return)


def _initialised(statements: Nodes) -> frozenset[str]:
    """Scalars that declarations among ``statements``, or assignments, give a value."""
    declared = frozenset(
        str(one.name)
        for node in statements
        for one in (node.decls if isinstance(node, c_ast.DeclList) else [node])
        if isinstance(one, c_ast.Decl)
    )
    return declared.union(*map(assigned, statements))


def _count(header: LoopHeader) -> Count:
    bits = bits_of(header.start.kind)
    return Count(header.variable, header.symbol, header.step, bits, header.unsigned)


def _bound(node: Loop, header: LoopHeader) -> c_ast.Node:
    """What a counted loop compares its variable with."""
    left = node.cond.left
    is_variable = isinstance(left, c_ast.ID) and left.name == header.variable
    assert node.cond.op in MIRRORED
    return node.cond.right if is_variable else left
