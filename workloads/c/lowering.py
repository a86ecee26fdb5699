"""Statements of C as operations: what comes before the loop gives live-ins, the loop's body the graph.

``if`` is lowered by predication: both sides are computed, scalars are merged by selects, loads and stores carry
the condition as a predicate. The loops around the chosen one stand at their first iteration.
"""

from __future__ import annotations

from pycparser import c_ast

from mapper.workloads.c.body import Kind, Value, integer, live_in
from mapper.workloads.c.expression import ArrayShape, Expressions
from mapper.workloads.c.file import LoopPlace
from mapper.workloads.c.loop import LoopHeader, header_of, start_of

ASSUMED_INTEGER = 8
ASSUMED_FLOAT = 0.5
"""The first parameter of its type; each further one is one, or a half, more, so that mixing them up shows."""
LARGEST_ARRAY_WORDS = 1 << 26
MOST_SCALARS = 1000


class Lowering(Expressions):
    """Lowers one innermost loop; afterwards ``header`` describes it, ``outputs`` lists the scalars read after
    it (each is stored to an array of one word in every iteration), and ``assumed`` names the parameters whose
    numbers are this project's choice."""

    header: LoopHeader

    def __init__(self, place: LoopPlace) -> None:
        super().__init__(place.source, place.name)
        self.place_of_loop = place
        self.inside = False
        self.assumed: set[str] = set()
        self.symbols: dict[str, int] = {}
        for declaration in place.declarations:
            self._declare(declaration, None)
        parameters = place.function.decl.type.args
        for parameter in parameters.params if parameters is not None else []:
            if not isinstance(parameter, c_ast.Decl):
                if not _is_void(parameter):
                    raise self.fault(parameter, "a parameter has no name; name it")
                continue
            self._parameter(parameter)
        self._way(place.function.body)

    def _parameter(self, parameter: c_ast.Decl) -> None:
        name = str(parameter.name)
        if not isinstance(parameter.type, c_ast.TypeDecl):
            self.arrays[name] = self._shape(parameter)
            return
        kind = self.kind_of(parameter.type)
        self._typed(name, kind, parameter)
        before = sum((self.kinds[other] == "float") == (kind == "float") for other in self.assumed)
        number = ASSUMED_FLOAT * (1 + before) if kind == "float" else ASSUMED_INTEGER + before
        self.scalars[name] = self._named(name, kind, number)
        self.assumed.add(name)

    def _typed(self, name: str, kind: Kind, node: c_ast.Node) -> None:
        self.kinds[name] = kind
        if len(self.kinds) > MOST_SCALARS:
            raise self.fault(node, f"more than {MOST_SCALARS} scalars; split the function")

    def _named(self, name: str, kind: Kind, number: int | float) -> Value:
        """A live-in under a symbol of its own."""
        mark = name if name not in self.symbols else f"{name}'{len(self.symbols)}"
        if kind != "float":
            self.symbols[mark] = int(number)
        return live_in(mark, kind, number)

    def _shape(self, declaration: c_ast.Decl) -> ArrayShape:
        """The shape of a declared array; a pointer counts only if ``restrict`` says that nothing aliases."""
        sizes: list[int | None] = []
        inner: c_ast.Node = declaration.type
        if isinstance(inner, c_ast.PtrDecl):
            if "restrict" not in inner.quals:
                name = str(declaration.name)[:40]
                raise self.fault(
                    declaration, f"pointer {name} may alias; declare {name}[SIZE] or *restrict {name}"
                )
            sizes.append(None)
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
        if not isinstance(inner, c_ast.TypeDecl):
            raise self.fault(
                declaration, "pointers are outside the subset; use arrays of int, unsigned or float"
            )
        shape = ArrayShape(self.kind_of(inner), tuple(sizes))
        if (shape.words or 0) > LARGEST_ARRAY_WORDS:
            raise self.fault(declaration, f"larger than {LARGEST_ARRAY_WORDS} words; give a smaller array")
        return shape

    def _declare(self, declaration: c_ast.Decl, predicate: Value | None) -> None:
        name = str(declaration.name)
        if isinstance(declaration.type, c_ast.FuncDecl):
            return
        if name in self.kinds or name in self.arrays:
            raise self.fault(
                declaration, f"{name[:40]} is declared twice in one scope or hides another; rename it"
            )
        if not isinstance(declaration.type, c_ast.TypeDecl):
            if declaration.name is None or self.inside:
                raise self.fault(
                    declaration, "only scalars are declared inside a loop; move it to the function"
                )
            self.arrays[name] = self._shape(declaration)
            if declaration.init is not None:
                self.note(
                    f"the values that {name} starts with are not read: its words are those of the memory"
                )
            return
        self._typed(name, self.kind_of(declaration.type), declaration)
        self.scalars[name] = None
        if declaration.init is not None:
            self._assign(name, self.value(declaration.init, predicate), declaration)

    def _assign(self, name: str, value: Value, node: c_ast.Node) -> None:
        value = self.converted(value, self.kinds[name], node)
        self.scalars[name] = value
        if value.node is not None and not self.body.nodes[value.node].label:
            self.body.nodes[value.node].label = name

    def _way(self, node: c_ast.Node) -> None:
        """Follows the statements that lead to the loop, then lowers the loop."""
        if node is self.place_of_loop.loop:
            self._loop(self.place_of_loop.loop)
        elif isinstance(node, c_ast.Compound):
            for statement in node.block_items or []:
                if _holds(statement, self.place_of_loop.loop):
                    self._way(statement)
                    return
                self._before(statement)
        elif isinstance(node, c_ast.For):
            name, start = start_of(node, self)
            changed = _assigned(node.stmt) | {name}
            self.scalars[name] = start
            for scalar in sorted(changed & self.scalars.keys()):
                found = self.scalars[scalar]
                if found is not None and found.node is None:
                    self.scalars[scalar] = self._named(scalar, found.kind, found.number)
            self.note(f"the loop over {name} around the kernel stands at its first iteration")
            self._way(node.stmt)
        elif isinstance(node, c_ast.If):
            self.note("the condition around the kernel is taken to hold as the text reaches the loop")
            self._way(node.iftrue if _holds(node.iftrue, self.place_of_loop.loop) else node.iffalse)
        else:
            raise self.fault(
                node, f"{type(node).__name__} around a loop is outside the subset; use for and if"
            )

    def _before(self, statement: c_ast.Node) -> None:
        """What a statement before the loop leaves in scalars; what it stores is the memory the loop finds."""
        if isinstance(statement, c_ast.Decl):
            self._declare(statement, None)
        elif isinstance(statement, c_ast.DeclList):
            for declaration in statement.decls:
                self._declare(declaration, None)
        elif isinstance(statement, c_ast.Assignment) and isinstance(statement.lvalue, c_ast.ID):
            self._statement(statement, None)
        else:
            for name in _assigned(statement) & self.scalars.keys():
                self.scalars[name] = None
            for array in _stored(statement):
                self.body.versions[array] = self.body.versions.get(array, 0) + 1

    def _loop(self, loop: c_ast.For) -> None:
        assigned = _assigned(loop.stmt)
        header = header_of(loop, self, assigned)
        computed_before = len(self.body.nodes)
        self._check_invariant(loop, computed_before)
        self.header = header
        self.inside = True
        if header.trip_count is None:
            self.note("the bound is a parameter, so the trip count is not known")
        self.scalars[header.variable] = self.body.induction(
            header.variable, self.kinds[header.variable], header.start, header.step
        )
        phis: dict[str, int] = {}
        for name in sorted(assigned & self.scalars.keys()):
            phis[name], self.scalars[name] = self.body.carried(name, self.kinds[name], self.scalars[name])
        self._statement(loop.stmt, None)
        for name, phi in phis.items():
            self.body.nodes[phi].final = self.scalars[name]
        for name in sorted(_read_after(self.place_of_loop.function.body, loop) & phis.keys()):
            value = self.scalars[name]
            assert value is not None
            self.arrays[name] = ArrayShape(value.kind, (1,))
            self.body.store(name, value.kind, integer(0), value, None)
            self.note(f"{name} is read after the loop: each iteration stores it to the word {name}[0]")

    def _check_invariant(self, loop: c_ast.For, count: int) -> None:
        """What was computed before the loop is computed in it again, so its loads must see the same words."""
        stored = _stored(loop.stmt)
        for node in self.body.nodes[:count]:
            if node.array is not None and (node.array in stored or self.body.versions.get(node.array)):
                raise self.fault(
                    loop,
                    f"a value of {node.array[:40]} is read before the loop and written; read it in the loop",
                )

    def _statement(self, node: c_ast.Node | None, predicate: Value | None) -> None:
        if node is None or isinstance(node, c_ast.EmptyStatement):
            return
        if isinstance(node, c_ast.Compound):
            known = set(self.kinds)
            for statement in node.block_items or []:
                self._statement(statement, predicate)
            for name in set(self.kinds) - known:
                del self.kinds[name], self.scalars[name]
        elif isinstance(node, c_ast.Decl):
            self._declare(node, predicate)
        elif isinstance(node, c_ast.If):
            self._if(node, predicate)
        elif isinstance(node, c_ast.Assignment):
            symbol = str(node.op).removesuffix("=")
            self._write(node.lvalue, symbol, self.value(node.rvalue, predicate), predicate)
        elif isinstance(node, c_ast.UnaryOp) and node.op in ("++", "p++", "--", "p--"):
            self._write(node.expr, str(node.op).lstrip("p")[0], integer(1), predicate)
        else:
            what = "return" if isinstance(node, c_ast.Return) else type(node).__name__
            raise self.fault(node, f"{what} in the loop is outside the subset; use assignments and if")

    def _write(self, target: c_ast.Node, symbol: str, value: Value, predicate: Value | None) -> None:
        """``target = value``, or ``target symbol= value``."""
        if isinstance(target, c_ast.ID) and target.name in self.kinds:
            if symbol:
                value = self.arithmetic(symbol, self.value(target, predicate), value, target)
            self._assign(str(target.name), value, target)
        elif isinstance(target, c_ast.ArrayRef):
            array, index = self.place(target, predicate)
            kind = self.arrays[array].kind
            if symbol:
                old = self.body.load(array, kind, index, predicate)
                value = self.arithmetic(symbol, old, value, target)
            self.body.store(array, kind, index, self.converted(value, kind, target), predicate)
        else:
            raise self.fault(target, "only declared scalars and words of arrays are assigned; declare it")

    def _if(self, node: c_ast.If, predicate: Value | None) -> None:
        condition = self.truth(self.value(node.cond, predicate))
        if condition.literal is not None:
            self._statement(node.iftrue if condition.literal else node.iffalse, predicate)
            return
        before = dict(self.scalars)
        self._statement(node.iftrue, self.both(predicate, condition))
        taken, self.scalars = self.scalars, dict(before)
        self._statement(node.iffalse, self.both(predicate, self.inverse(condition)))
        for name, value in taken.items():
            other = self.scalars[name]
            if value is None or other is None:
                # A scalar that only one side gives a value has none after the if.
                self.scalars[name] = None
            else:
                self.scalars[name] = self.body.select(condition, value, other)


def _is_void(parameter: c_ast.Node) -> bool:
    return isinstance(parameter, c_ast.Typename) and getattr(parameter.type.type, "names", None) == ["void"]


def _holds(node: c_ast.Node | None, wanted: c_ast.Node) -> bool:
    return node is not None and (node is wanted or any(_holds(child, wanted) for _, child in node.children()))


def _targets(node: c_ast.Node) -> list[c_ast.Node]:
    """What the statements under ``node`` assign."""
    found: list[c_ast.Node] = []
    if isinstance(node, c_ast.Assignment):
        found.append(node.lvalue)
    elif isinstance(node, c_ast.UnaryOp) and node.op in ("++", "p++", "--", "p--"):
        found.append(node.expr)
    return found + [target for _, child in node.children() for target in _targets(child)]


def _assigned(node: c_ast.Node) -> frozenset[str]:
    return frozenset(str(target.name) for target in _targets(node) if isinstance(target, c_ast.ID))


def _stored(node: c_ast.Node) -> frozenset[str]:
    found = set()
    for target in _targets(node):
        base = target
        while isinstance(base, c_ast.ArrayRef):
            base = base.name
        if base is not target and isinstance(base, c_ast.ID):
            found.add(str(base.name))
    return frozenset(found)


def _read_after(function: c_ast.Node, loop: c_ast.For) -> frozenset[str]:
    """Scalars that the text reads after ``loop``."""
    reads: list[str] = []
    passed = False
    written: set[int] = set()
    waiting = [function]
    while waiting:
        node = waiting.pop()
        if node is loop:
            passed = True
            continue
        if isinstance(node, c_ast.Assignment) and node.op == "=":
            written.add(id(node.lvalue))
        if passed and isinstance(node, c_ast.ID) and id(node) not in written:
            reads.append(str(node.name))
        waiting += [child for _, child in reversed(node.children())]
    return frozenset(reads)
