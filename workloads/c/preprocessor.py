"""The system's C preprocessor, bounded in time, memory and output; its line marks lead back to the user's files."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from subprocess import TimeoutExpired

from mapper.workloads.c.reading import SourceReading
from mapper.workloads.document import InputError, read_bytes, sha256
from mapper.workloads.network.network import InputFile
from mapper.workloads.process.child_process import run
from mapper.workloads.process.temporary import temporary_folder

COMPILERS = ("cc", "gcc", "g++", "clang", "c++")
MOST_SECONDS = 5
MOST_KILOBYTES = 1 << 20
MOST_OUTPUT_BYTES = 1 << 23
LARGEST_HEADER_BYTES = 1 << 20
DEEPEST_INCLUDE = 64
WITHOUT = (
    "__attribute__(x)=", "__extension__=", "__inline=inline", "__inline__=inline",
    "__restrict=restrict", "__restrict__=restrict", "__const=const", "__volatile__=volatile", "__volatile=volatile",
    "__signed__=signed", "_Noreturn=", "__builtin_va_list=int", "__alignof__=sizeof", "__thread=",
)  # fmt: skip
"""The compiler's own words, which are no C and say nothing of a loop."""
_MARK = re.compile(r'^# \d+ "((?:[^"\\]|\\.)*)"([ \d]*)$', re.MULTILINE)
_PLACED = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+(?::\d+)?): (?:fatal )?error: (?P<what>[^\n]+)", re.MULTILINE
)


@dataclass(frozen=True)
class Preprocessed:
    """Text with line marks (``# LINE "FILE" FLAGS``), and the user's files that it was made of beside its own."""

    text: str
    files: tuple[InputFile, ...] = ()


def preprocessed_by_system(text: str, source: str, reading: SourceReading) -> Preprocessed:
    """``text`` of the file ``source`` after the system's preprocessor.

    Raises: InputError if there is none, it finds an error (a missing header), or a limit is reached.
    """
    compiler = next((found for name in COMPILERS if (found := shutil.which(name))), None)
    if compiler is None:
        raise InputError(source, "", f"needs a C preprocessor; install one of {', '.join(COMPILERS)}")
    with temporary_folder() as folder:
        (folder / "in.c").write_text(f'# 1 "{_quoted(source)}"\n{text}', "utf-8")
        beside = str(Path(source).parent)
        options = [f"-D{one}" for one in (*WITHOUT, *reading.define)]
        options += [f"-I{one}" for one in reading.include] + ["-iquote", beside]
        # The shell sets limits and becomes the compiler; what it prints goes to files of limited length.
        script = (
            f"ulimit -v {MOST_KILOBYTES}; ulimit -t {MOST_SECONDS}; ulimit -f {MOST_OUTPUT_BYTES // 512}; "
            'out=$1; shift; exec "$@" >"$out/out" 2>"$out/err"'
        )
        command = ["/bin/sh", "-c", script, "sh", str(folder), compiler, "-E", "-x", "c", *options]
        command += [f"-fmax-include-depth={DEEPEST_INCLUDE}"] if "clang" not in compiler else []
        try:
            ended = run([*command, str(folder / "in.c")], MOST_SECONDS, family=True)
        except TimeoutExpired:
            raise InputError(
                source, "", f"takes the preprocessor more than {MOST_SECONDS} s; give less"
            ) from None
        said = read_bytes(folder / "err", MOST_OUTPUT_BYTES).decode("utf-8", "replace")
        if ended.returncode != 0:
            raise _refusal(said, source)
        found = read_bytes(folder / "out", MOST_OUTPUT_BYTES).decode("utf-8", "replace")
    return Preprocessed(found, _included(found, source))


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def _refusal(said: str, source: str) -> InputError:
    """The preprocessor's first error, in the user's own file and line."""
    error = _PLACED.search(said)
    if error is None:
        return InputError(source, "", "cannot be preprocessed within time and memory; give a smaller file")
    what = error["what"].strip()
    missing = what.removesuffix(": No such file or directory")
    if missing != what:
        remedy = f"there is no header {missing[:80]}; give its folder with --include DIR"
        return InputError(f"{error['file']}:{error['line']}", "#include", remedy)
    return InputError(f"{error['file']}:{error['line']}", "", f"{what[:200]}; correct it")


def _included(text: str, source: str) -> tuple[InputFile, ...]:
    """The headers of the user's that were read; those of the system are not his."""
    seen: dict[str, bool] = {}
    for name, flags in _MARK.findall(text):
        if not name.startswith("<") and name != _quoted(source):
            plain = name.replace('\\"', '"').replace("\\\\", "\\")
            seen[plain] = seen.get(plain, False) or "3" in flags.split()
    found = []
    for name in (name for name, system in seen.items() if not system):
        path = Path(name)
        if path.is_file() and path.name != "in.c":
            found.append(InputFile(name, sha256(read_bytes(path, LARGEST_HEADER_BYTES))))
    return tuple(found)
