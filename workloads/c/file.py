"""C files: from the text to one innermost loop of one function."""

from __future__ import annotations

from dataclasses import dataclass

from pycparser import c_ast, c_parser
from pycparser.c_parser import ParseError

from mapper.workloads.c.text import preprocessed
from mapper.workloads.document import InputError

REFUSED = {
    "FuncCall": "function calls are outside the subset, but for fmaxf and fminf; write the function out",
    "Goto": "goto is outside the subset; use for and if",
    "Label": "labels are outside the subset; use for and if",
    "Switch": "switch is outside the subset; use if",
    "While": "a while loop has an unknown trip count; use for with bounds",
    "DoWhile": "a do loop has an unknown trip count; use for with bounds",
    "Break": "break makes the trip count unknown; guard the statements by if",
    "Continue": "continue is outside the subset; guard the statements by if",
    "Struct": "structures are outside the subset; use one array per member",
    "StructRef": "structures are outside the subset; use one array per member",
    "Union": "unions are outside the subset; use int, unsigned, float and arrays of them",
    "Enum": "enumerations are outside the subset; #define the constants",
    "ExprList": "the comma operator is outside the subset; write one statement each",
}
"""Per node type of the parser why it is refused inside a function."""
OPERATION_CALLS = {"fmaxf": "fmax", "fminf": "fmin"}
"""Functions of C's library that are one operation."""


@dataclass(frozen=True)
class LoopPlace:
    """One innermost loop: the file's global declarations, the function, and the way from its body to the
    loop (the loops around it and the loop itself, outermost first). ``others``: how many more innermost loops
    the function has."""

    source: str
    declarations: tuple[c_ast.Decl, ...]
    function: c_ast.FuncDef
    loop: c_ast.For
    others: int

    @property
    def name(self) -> str:
        """The function's name."""
        return str(self.function.decl.name)


def fault(source: str, node: c_ast.Node, name: str, remedy: str) -> InputError:
    """What is wrong at ``node`` in function ``name``."""
    line = f":{node.coord.line}" if node.coord is not None else ""
    return InputError(f"{source}{line}", name, remedy)


def find_loop(text: str, source: str, function: str | None, number: int | None) -> LoopPlace:
    """The innermost loop ``number`` (from 0; None: the first) of ``function`` (None: the only one that loops).

    Raises: InputError if the text is not C, holds no such loop, or the function is outside the subset.
    """
    parsed = _parse(preprocessed(text, source), source)
    # In broken text the parser takes arrays, too, for functions with a body.
    defined = (item for item in parsed.ext if isinstance(item, c_ast.FuncDef))
    functions = {str(item.decl.name): item for item in defined if isinstance(item.decl.type, c_ast.FuncDecl)}
    chosen = _function(functions, source, function)
    _check_subset(chosen, source)
    loops = _innermost(chosen.body)
    name = str(chosen.decl.name)
    if not loops:
        raise fault(source, chosen, name, "has no for loop; give a function with one")
    if number is not None and number >= len(loops):
        raise fault(
            source, chosen, name, f"has {len(loops)} innermost loops, counted from 0; give one of them"
        )
    declarations = tuple(item for item in parsed.ext if isinstance(item, c_ast.Decl))
    return LoopPlace(source, declarations, chosen, loops[number or 0], len(loops) - 1)


def _parse(text: str, source: str) -> c_ast.FileAST:
    try:
        return c_parser.CParser().parse(text, source)
    except ParseError as error:
        place = str(error).removeprefix(source).lstrip(":")
        raise InputError(
            source, "", f"is not C that this reader understands ({place[:200]}); correct it"
        ) from None
    except RecursionError:
        raise InputError(source, "", "nested too deeply; flatten it") from None
    except (AssertionError, AttributeError, ValueError, IndexError, KeyError, TypeError) as error:
        # What the parser does not foresee in broken text it answers with one of these.
        raise InputError(source, "", f"is not C ({type(error).__name__} in the parser); correct it") from None


def _function(functions: dict[str, c_ast.FuncDef], source: str, name: str | None) -> c_ast.FuncDef:
    looping = [key for key, item in functions.items() if _loops(item.body)]
    if name is None:
        if len(looping) == 1:
            return functions[looping[0]]
        if not looping:
            raise InputError(source, "", "no function has a for loop; give a file with one")
        raise InputError(
            source, "", f"several functions have loops; write {source}:NAME with one of {looping[:8]}"
        )
    if name not in functions:
        raise InputError(source, name[:80], f"is not a function in this file; give one of {looping[:8]}")
    return functions[name]


def _innermost(node: c_ast.Node) -> list[c_ast.For]:
    """The for loops under ``node`` that hold no other, in the order of the text."""
    found = [loop for _, child in node.children() for loop in _innermost(child)]
    return [node] if isinstance(node, c_ast.For) and not found else found


def _loops(node: c_ast.Node) -> bool:
    """Whether there is a loop of any form under ``node``."""
    kinds = (c_ast.For, c_ast.While, c_ast.DoWhile)
    return isinstance(node, kinds) or any(_loops(child) for _, child in node.children())


def _check_subset(function: c_ast.FuncDef, source: str) -> None:
    name = str(function.decl.name)
    waiting: list[c_ast.Node] = [function.body]
    while waiting:
        node = waiting.pop()
        remedy = REFUSED.get(type(node).__name__)
        if remedy is not None and not is_operation(node):
            raise fault(source, node, name, remedy)
        if isinstance(node, c_ast.UnaryOp) and node.op in ("*", "&"):
            raise fault(source, node, name, "pointers are outside the subset; use arrays and subscripts")
        waiting += list(node.args.exprs) if is_operation(node) else [c for _, c in reversed(node.children())]


def is_operation(node: c_ast.Node) -> bool:
    """Whether ``node`` is a call that is one operation."""
    return (
        isinstance(node, c_ast.FuncCall)
        and isinstance(node.name, c_ast.ID)
        and node.name.name in OPERATION_CALLS
        and node.args is not None
    )
