"""Documents whose names are hostile: no path, command, markup or line of their own wherever they are written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

ESCAPED = "mapper-escaped-by-name"
"""What is written under a hostile name has this in its path."""
MARK = "INJECTED"
"""What a hostile name tries to begin a line, a tag or a command with."""
NAMES = (
    f"../../{ESCAPED}", f"/tmp/{ESCAPED}", f"..\\..\\{ESCAPED}", f"a/../../../{ESCAPED}", "..", ".", "...", "/", "~",
    "CON", "nul.txt", "com1", "conv1", "CONV1", "Conv1", "a.", "a ", "-rf", ".git", "x" * 300, "x" * 4000, "é",
    "e\u0301",
    f"a\n{MARK}", f"a\r{MARK}", f"a\r\n{MARK}", f"a\u2028{MARK}", f"a\x85{MARK}", f"a\x0b{MARK}", "\0", "\x7f", "\t",
    f"\x1b[31m{MARK}", f"\x9b31m{MARK}", f"\x1b]0;{MARK}\x07", "\u202eabc", "\u2066abc", "\ufeffabc", "\ud800",
    f"*/ {MARK} /*", f'"; {MARK}; "', f"`{MARK}", f"$({MARK})", f"`{MARK}`", f"\\{MARK}", "??/", f"// {MARK}", "%n%s",
    f"<{MARK}>", f"</title><{MARK}>", f"</text></svg><{MARK}/>", f"]]><{MARK}/>", "&amp;", "&#27;", f"-->{MARK}",
    f"a|{MARK}", f"```{MARK}", f"[{MARK}](x)", f"\\end{{verbatim}}\\{MARK}", f"\\input{{{MARK}}}", "a_b^c~d#e%f&g$h{i}",
    "$\\frac{$", "[red]a[/red]", "[/]", ":smile:", "=1+1", "a,b", 'a"b', "a;b", "{}", "{0}", "%(x)s", "", " ",
)  # fmt: skip


def renamed(data: bytes, random: Random) -> bytes:
    """``data``, a JSON document, with some of its names changed wherever they stand, to hostile ones."""
    tree = json.loads(data)
    # Names of parts become folders.
    parts = [{"name": part.get("name")} for part in tree.get("parts") or () if isinstance(part, dict)]
    known = sorted(_names(parts if parts and random.random() < 0.4 else tree))
    if not known:
        return data
    chosen = random.sample(known, min(len(known), random.choice((1, 1, 2, 3))))
    return json.dumps(_exchanged(tree, {name: random.choice(NAMES) for name in chosen})).encode()


def _names(tree: Any) -> set[str]:
    """What documents call things: values under keys that say so."""
    found: set[str] = set()
    waiting = [tree]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            for key in (
                "name",
                "workload",
                "arch",
                "source",
                "op",
                "opcode",
                "array",
                "tensor",
                "description",
                "path",
            ):
                if isinstance(here.get(key), str):
                    found.add(here[key])
            for key in ("inputs", "outputs", "notes"):
                found |= {one for one in here.get(key) or () if isinstance(one, str)}
            waiting += here.values()
        elif isinstance(here, list):
            waiting += here
    return found


def _exchanged(tree: Any, names: dict[str, str]) -> Any:
    if isinstance(tree, dict):
        return {names.get(key, key): _exchanged(value, names) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_exchanged(value, names) for value in tree]
    return names.get(tree, tree) if isinstance(tree, str) else tree


def check_text(text: str, what: str) -> None:
    """Raises: AssertionError if a terminal would obey ``text``, or a name begins a line of it."""
    strange = sorted({char for char in text if not char.isprintable() and char not in "\n\t"})
    assert not strange, f"{what} holds {strange[:5]!r}"
    begun = [line for line in text.split("\n") if line.lstrip().startswith(MARK)]
    assert not begun, f"{what} has a line that a name begins: {begun[0][:80]!r}"


def check_files(folder: Path) -> None:
    """Every file that was generated is of plain text, pictures are whole XML, and none lies outside ``folder``.

    Raises: AssertionError if one is not.
    """
    from xml.etree import ElementTree

    places = [Path("/tmp") / ESCAPED, *(one for up in folder.parents[:2] for one in up.glob(f"*{ESCAPED}*"))]
    outside = [place for place in places if place.exists()]
    for place in outside:
        # What one input has left is not found with the next.
        shutil.rmtree(place)
    assert not outside, "a file lies outside the folder"
    lower = [str(path).lower() for path in folder.rglob("*")]
    assert len(set(lower)) == len(lower), "two files differ by case alone"
    for path in folder.rglob("*"):
        assert len(path.name.encode()) <= 255 and path.name.isascii()
        if path.is_dir() or path.suffix in (".snow", ".npz", ".pe", ".bin"):
            continue
        text = path.read_text("utf-8")
        check_text(text, path.name)
        if path.suffix == ".svg":
            tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(text).iter()}
            assert MARK not in tags, f"{path.name} has an element that a name made"
