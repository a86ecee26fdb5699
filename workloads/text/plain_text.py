"""Text from outside where people see it: nothing that a terminal or a reader of text would obey.

Names come from files and paths. Whatever is printed, logged or written as a remark passes through here.
"""

from __future__ import annotations

ELLIPSIS = "…"


def plain(text: str, longest: int | None = None, instead: str = "?") -> str:
    """``text`` on one line: ``instead`` for every control, separator and invisible character, and for those that
    change the direction of what follows; cut to ``longest`` characters."""
    short = text if longest is None or len(text) <= longest else text[: longest - 1] + ELLIPSIS
    return (
        short if short.isprintable() else "".join(char if char.isprintable() else instead for char in short)
    )


def ascii_comment(text: str) -> str:
    """Text that neither ends a comment of C or Verilog nor begins another, in the characters that every tool reads."""
    return "".join(
        char if char.isascii() and char.isprintable() and char not in "*\\?" else "." for char in text
    )


def plotted(text: str, longest: int) -> str:
    """``text`` as matplotlib draws it: no formula, one line. Not in axes that are told to parse none."""
    return plain(text, longest).replace("$", r"\$")


_MARKDOWN = str.maketrans(
    {sign: f"\\{sign}" for sign in "\\|`*[]"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
)
_LATEX = str.maketrans(
    {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}"}
    | {sign: f"\\{sign}" for sign in "&%$#_{}"}
)


def markdown(text: str) -> str:
    """``text`` in Markdown, in a cell of a table too: no markup, no HTML, one line."""
    return plain(text).translate(_MARKDOWN)


def latex(text: str) -> str:
    """``text`` in a paragraph of LaTeX: no commands, one line."""
    return plain(text).translate(_LATEX)
