"""A file of C cut into its declarations, so that one function is read with what it names, and nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mapper.workloads.c.text import checked
from mapper.workloads.document import InputError

LARGEST_CALLEE = 4000
"""Characters of a function that is called and read with the loop, so that it can be put in its place."""
MOST_CHUNKS = 20_000

_TOKEN = re.compile(
    r'(?P<mark>^[ \t]*#[ \t]*(?:line[ \t]+)?(?P<line>\d+)[ \t]*(?:"(?P<file>(?:[^"\\\n]|\\.)*)")?(?P<flags>[^\n]*)$)'
    r"|(?P<other>^[ \t]*#[^\n]*$)"
    r'|(?P<text>"(?:[^"\\\n]|\\.)*+"?|\'(?:[^\'\\\n]|\\.)*+\'?)'
    r"|(?P<name>[A-Za-z_]\w*)|(?P<number>\.?\d[\w.]*)|(?P<sign>[^\s\w])|(?P<end>\n)",
    re.MULTILINE,
)
_WORDS = frozenset(
    (
        *(
            "auto",
            "break",
            "case",
            "char",
            "const",
            "continue",
            "default",
            "do",
            "double",
            "else",
            "enum",
            "extern",
        ),
        *("float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short"),
        *(
            "signed",
            "sizeof",
            "static",
            "struct",
            "switch",
            "typedef",
            "union",
            "unsigned",
            "void",
            "volatile",
        ),
        *("while", "_Bool"),
    )
)
MOST_HEAD = 200
"""Words and signs of the head of a function whose parameters are declared after the parentheses."""
_OLD_HEAD = re.compile(r"(?!typedef\b|extern\b)[\w* ]*\w \( \w+(?: , \w+)* \) (?P<next>[A-Za-z_]\w*)")
_COMPILERS_WORDS = re.compile(
    r"\b(?:__attribute__|__attribute|__asm__|__asm|asm|__declspec|_Pragma|_Alignas|_Static_assert)\b\s*(?:volatile\s*|goto\s*)?"
    r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\b(?:__extension__|_Noreturn|__inline__|__inline|_Thread_local)\b"
)

ASSEMBLY = "__asm__"
"""What a statement of assembly calls in the text that is read."""
_ASSEMBLY = (ASSEMBLY, "__asm", "asm")


@dataclass
class Chunk:
    """One external declaration: its text, the file (by number) and line that it starts at, whether a system header
    holds it, the names that it declares and those that it mentions. ``function``: the name if it has a body."""

    text: str
    file: int
    line: int
    system: bool
    declares: frozenset[str]
    mentions: frozenset[str]
    function: str | None
    loops: bool


@dataclass
class Unit:
    """A file in chunks; ``files`` are the names of the files that its lines come from."""

    source: str
    chunks: list[Chunk]
    files: list[str] = field(default_factory=list)

    @property
    def looping(self) -> list[str]:
        """Functions of the user's with a loop in them."""
        return [one.function for one in self.chunks if one.function and one.loops and not one.system]

    def around(self, function: str, callees: bool = True) -> str:
        """The text of ``function`` and of what it names, and that names, with line marks by the number of the file."""
        wanted: set[str] = set()
        chosen: set[int] = set()
        own = [at for at, one in enumerate(self.chunks) if one.function == function]
        waiting = own[-1:]
        declared: dict[str, list[int]] = {}
        for at, one in enumerate(self.chunks):
            if one.function is None or (callees and len(one.text) <= LARGEST_CALLEE and not one.system):
                for name in one.declares:
                    declared.setdefault(name, []).append(at)
        while waiting:
            at = waiting.pop()
            if at in chosen:
                continue
            chosen.add(at)
            for name in self.chunks[at].mentions - wanted:
                wanted.add(name)
                waiting += [
                    other for other in declared.get(name, ()) if self.chunks[other].function != function
                ]
        lines = []
        for at in sorted(chosen):
            one = self.chunks[at]
            # A function without a type gives an int.
            typed = "int " if one.function is not None and one.text.startswith(one.function) else ""
            lines.append(f'# {one.line} "{one.file}"\n{typed}{_COMPILERS_WORDS.sub(_emptied, one.text)}\n')
        return checked("".join(lines), self.source)


def _emptied(found: re.Match[str]) -> str:
    """Nothing; but assembly that is a statement stays one, a call that the reader refuses where it matters."""
    lines = "\n" * found[0].count("\n")
    is_statement = found.string[: found.start()].rstrip()[-1:] in ("{", "}", ";", ":")
    return f" {ASSEMBLY}(){lines}" if is_statement and found[0].startswith(_ASSEMBLY) else f" {lines}"


class _Cutting:
    """Where one is in the text: depths of brackets, and what the chunk at hand has said so far."""

    def __init__(self, text: str, source: str) -> None:
        self.text, self.unit = text, Unit(source, [], [source])
        self.numbers = {source: 0}
        self.file, self.line, self.system = 0, 1, False
        self.start(0)

    def start(self, offset: int) -> None:
        self.begin: int | None = None
        self.offset = offset
        self.braces = self.others = 0
        self.tokens: list[tuple[str, int, int]] = []
        self.body = False

    def token(self, word: str, offset: int) -> None:
        if self.begin is None:
            self.begin, self.place = offset, (self.file, self.line, self.system)
        self.tokens.append((word, self.braces, self.others))
        if word == "{":
            before = self.tokens[-2][0] if len(self.tokens) > 1 else ""
            if (
                self.braces == 0
                and self.others == 0
                and (before == ")" or (before == ";" and self._old_style()))
            ):
                self.body = True
            self.braces += 1
        elif word == "}":
            self.braces -= 1
        elif word in "([":
            self.others += 1
        elif word in ")]":
            self.others -= 1
        outside = self.braces <= 0 and self.others <= 0
        if outside and ((word == ";" and not self._old_style()) or (word == "}" and self.body)):
            self.end(offset + len(word))

    def _old_style(self) -> bool:
        """Whether the tokens so far are a function's head whose parameters, named in the parentheses, are declared
        after them."""
        head = " ".join(word for word, braces, _ in self.tokens[:MOST_HEAD] if braces == 0)
        found = _OLD_HEAD.match(head)
        return found is not None and not found["next"].startswith(("__", "asm"))

    def end(self, offset: int) -> None:
        if self.begin is not None and len(self.tokens) > 1:
            words = [word for word, _, _ in self.tokens]
            self.unit.chunks.append(
                Chunk(
                    self.text[self.begin : offset], *self.place, _declared(self.tokens),
                    frozenset(word for word in words if word not in _WORDS and (word[0].isalpha() or word[0] == "_")),
                    _function(self.tokens) if self.body else None,
                    bool({"for", "while", "do"} & set(words)),
                )
            )  # fmt: skip
        if len(self.unit.chunks) > MOST_CHUNKS:
            raise InputError(
                self.unit.source, "", f"more than {MOST_CHUNKS} declarations; give a smaller file"
            )
        self.start(offset)

    def mark(self, found: re.Match[str]) -> None:
        """A line mark: the next line is ``line`` of ``file``."""
        if found["file"] is not None:
            name = found["file"].replace('\\"', '"').replace("\\\\", "\\")
            if name not in self.numbers:
                self.numbers[name] = len(self.unit.files)
                self.unit.files.append(name)
            self.file = self.numbers[name]
        self.line = int(found["line"]) - 1
        self.system = "3" in found["flags"].split()


def cut(text: str, source: str) -> Unit:
    """``text``, which has line marks or none, in external declarations.

    Raises: InputError if there are too many.
    """
    cutting = _Cutting(text, source)
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup
        if kind == "end":
            cutting.line += 1
        elif found["mark"] is not None:
            cutting.mark(found)
        elif found["other"] is None:
            cutting.token(found[0], found.start())
    cutting.end(len(text))
    # Marks inside a chunk name files; the parser is given their numbers instead, as names may hold anything.
    for chunk in cutting.unit.chunks:
        chunk.text = _TOKEN.sub(lambda found: _renamed(found, cutting.numbers), chunk.text)
    return cutting.unit


def _renamed(found: re.Match[str], numbers: dict[str, int]) -> str:
    if found["other"] is not None:
        return ""
    if found["mark"] is None:
        return found[0]
    if found["file"] is None:
        return f"# {found['line']}"
    name = found["file"].replace('\\"', '"').replace("\\\\", "\\")
    return f'# {found["line"]} "{numbers[name]}"'


def _declared(tokens: list[tuple[str, int, int]]) -> frozenset[str]:
    """The names before ``;``, ``,``, ``=``, ``[`` and ``(`` of a declaration, tags, enumerators, and names of pointers
    to functions."""
    found: set[str] = set()
    words = [word for word, _, _ in tokens]
    enumeration = "enum" in words
    for at, (word, braces, others) in enumerate(tokens):
        if word in _WORDS or not (word[0].isalpha() or word[0] == "_"):
            continue
        before = words[at - 1] if at else ""
        after = words[at + 1] if at + 1 < len(words) else ""
        if (
            (braces == 0 and others == 0 and after in (";", ",", "=", "[", "("))
            or before in ("struct", "union", "enum")
            or (braces == 0 and before == "*" and words[at - 2 : at - 1] == ["("])
            or (enumeration and braces == 1 and before in ("{", ","))
        ):
            found.add(word)
    return frozenset(found)


def _function(tokens: list[tuple[str, int, int]]) -> str | None:
    """The name before the first parenthesis."""
    words = [word for word, _, _ in tokens]
    for at, word in enumerate(words):
        if word == "(":
            name = words[at - 1] if at else ""
            return name if name not in _WORDS and (name[:1].isalpha() or name[:1] == "_") else None
    return None
