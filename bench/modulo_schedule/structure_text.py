"""Structures in the text of a loop, as the front end has them: an array for each member, and pointers as indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pycparser import c_ast, c_generator


class NotWrittenError(Exception):
    """A structure is reached in a way that this writer has no text for."""


def plain(array: str) -> str:
    """The name of an array as C has it."""
    return array.replace(".", "__")


def named(node: c_ast.Node) -> frozenset[str]:
    """The arrays, scalars and functions that a text names; members of structures are none."""
    if isinstance(node, c_ast.StructRef):
        return named(node.name)
    own = frozenset([str(node.name)]) if isinstance(node, c_ast.ID) else frozenset[str]()
    return own.union(*(named(child) for _, child in node.children()))


class StructureText(c_generator.CGenerator):  # type: ignore[misc]
    """Writes members of structures as words of the arrays that kernels have of them. ``arrays``: all that are known;
    ``structures``: those of structures; ``bases``: the array that each pointer to structures leads into;
    ``is_structure``: of a type."""

    def __init__(
        self,
        arrays: frozenset[str],
        structures: frozenset[str],
        bases: Mapping[str, str],
        is_structure: Callable[[c_ast.Node], bool] = lambda node: False,
    ) -> None:
        super().__init__()
        self.arrays, self.structures, self.bases, self.is_structure = (
            arrays,
            structures,
            dict(bases),
            is_structure,
        )

    def visit_StructRef(self, node: c_ast.StructRef) -> str:  # noqa: N802
        name, subscripts = self._word(node)
        if name not in self.arrays:
            raise NotWrittenError("a member that the front end has not followed")
        return plain(name) + "".join(f"[{one}]" for one in subscripts)

    def visit_ID(self, node: c_ast.ID) -> str:  # noqa: N802
        """An array of structures, where it stands for the pointer to its first."""
        known = node.name in self.structures and node.name not in self.bases
        return "0" if known else super().visit_ID(node)

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> str:  # noqa: N802
        """The address of a structure is its index."""
        found = self._of_structures(node.expr) if node.op == "&" else None
        return super().visit_UnaryOp(node) if found is None else found[1]

    def visit_Decl(self, n: c_ast.Decl, no_type: bool = False) -> str:  # noqa: N802
        """A pointer to structures is declared as the index that it is."""
        is_pointer = isinstance(n.type, c_ast.PtrDecl) and self.is_structure(n.type.type)
        if not is_pointer or n.init is None:
            return str(super().visit_Decl(n, no_type))
        self.bases[str(n.name)] = self._pointed(n.init)
        return f"long long {n.name} = {self.visit(n.init)}"

    def _word(self, node: c_ast.Node) -> tuple[str, list[str]]:
        """The array of a member, and the subscripts of its structure.

        Raises: NotWrittenError for a structure that is reached in another way.
        """
        if isinstance(node, c_ast.StructRef):
            name, subscripts = self._word(node.name)
            return f"{name}.{node.field.name}", subscripts
        found = self._of_structures(node)
        if found is not None:
            return found[0], [found[1]]
        if isinstance(node, c_ast.UnaryOp | c_ast.BinaryOp):  # a pointer that is computed
            return self._pointed(node), [self.visit(node)]
        if isinstance(node, c_ast.ArrayRef):  # of rows of structures, or of structures that are a member
            name, subscripts = self._word(node.name)
            return name, [*subscripts, self.visit(node.subscript)]
        raise NotWrittenError("a structure behind what is no array and no pointer into one")

    def _of_structures(self, node: c_ast.Node) -> tuple[str, str] | None:
        """The array and the index of a structure that is named, pointed to, or one of several."""
        if isinstance(node, c_ast.ID):
            name = str(node.name)
            if name in self.bases:
                return self.bases[name], name
            return (name, "0") if name in self.structures else None
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            return self._pointed(node.expr), f"({self.visit(node.expr)})"
        if isinstance(node, c_ast.ArrayRef) and isinstance(node.name, c_ast.ID):
            found = self._of_structures(node.name)
            return None if found is None else (found[0], f"{found[1]} + ({self.visit(node.subscript)})")
        return None

    def _pointed(self, node: c_ast.Node) -> str:
        """The array that a pointer leads into.

        Raises: NotWrittenError if the pointer's text does not name it.
        """
        if isinstance(node, c_ast.BinaryOp):
            return self._pointed(node.left)
        if isinstance(node, c_ast.UnaryOp | c_ast.Cast):
            return self._pointed(node.expr)
        found = self._of_structures(node)
        if found is None:
            raise NotWrittenError("a pointer to structures that is computed from no array of them")
        return found[0]
