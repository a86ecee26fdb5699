"""Where inputs come from: hypothesis, which draws the changes, and atheris, which keeps those that reach new lines."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from random import Random

from tests.fuzz.guard import Guard
from tests.fuzz.reader import Find, Reader, changed

LONGEST_GUIDED = 1 << 17
SPENT = 4
"""Exit code of a process that cannot tell any more how much memory an input takes; another goes on."""
MOST_TURNS = 1000
"""How often hypothesis begins again."""
UNWATCHED = ("solver", "sim", "codegen", "formulations", "models")
"""Floors that atheris does not watch, for numba compiles their code as it is written; but what reads files there."""
WATCHED = ("_file", "_header", "_check")


class Report:
    """Keeps the smallest input of every fault in ``folder``, and tells the parent on the way."""

    def __init__(self, reader: Reader, folder: Path) -> None:
        self._reader, self._folder = reader, folder
        self._least: dict[str, Path] = {}

    def add(self, find: Find, data: bytes) -> Path:
        """Keep an input; the file it is kept in."""
        before = self._least.get(find.place)
        if before is not None and before.stat().st_size <= len(data):
            return before
        path = kept(self._reader, data, self._folder)
        if before is not None:
            before.unlink(missing_ok=True)
        self._least[find.place] = path
        print(json.dumps({"place": find.place, "text": find.text, "file": str(path)}), flush=True)
        return path


def kept(reader: Reader, data: bytes, folder: Path) -> Path:
    """The file in ``folder`` that an input is written to."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{reader.name}-{hashlib.sha256(data).hexdigest()[:12]}{reader.suffix}"
    path.write_bytes(data)
    return path


def drawn_inputs(guard: Guard, count: int, seed: int, report: Report) -> None:
    """Try ``count`` inputs whose changes hypothesis draws."""
    import hypothesis
    from hypothesis import HealthCheck, Phase, given, settings, strategies

    tried = 0

    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(strategies.randoms(use_true_random=False))
    def check(random: Random) -> None:
        nonlocal tried
        if tried < count:
            data = changed(guard.reader, random)
            _try(guard, tried, data, report)
            tried += 1

    for turn in range(MOST_TURNS):
        before = tried
        # Changes of broken stores are not always the same twice, which hypothesis asks for.
        with suppress(hypothesis.errors.Flaky):
            hypothesis.seed(seed + turn)(check)()
        if tried in (before, count):
            break
    (guard.folder / "progress").write_text(str(tried))


def guided_inputs(guard: Guard, count: int, seed: int, report: Report) -> None:
    """Try ``count`` inputs, each a change of one that reached lines of its own. Ends the process."""
    import atheris

    with atheris.instrument_imports(include=["mapper"], exclude=_unwatched()):
        guard.warm_up()
    guard.limit_memory()
    reader, tried = guard.reader, 0
    corpus = guard.folder / "corpus"
    corpus.mkdir()
    for number, data in enumerate(reader.seeds()):
        (corpus / str(number)).write_bytes(data)

    def check(data: bytes) -> None:
        nonlocal tried
        if tried < count:
            _try(guard, tried, data, report)
            tried += 1
            (guard.folder / "progress").write_text(str(tried))

    def mutate(data: bytes, longest: int, number: int) -> bytes:
        random = Random(number)
        if random.random() < 0.3:
            return bytes(atheris.Mutate(data, longest))
        return reader.mutate(data, random)[:longest]

    options = (f"-runs={count}", f"-seed={seed % (1 << 31) + 1}", f"-max_len={LONGEST_GUIDED}", "-rss_limit_mb=0",
               "-detect_leaks=0", "-verbosity=0", "-timeout=10000", str(corpus))  # fmt: skip
    atheris.Setup([sys.argv[0], *options], check, custom_mutator=mutate)
    atheris.Fuzz()


def _unwatched() -> list[str]:
    """The modules that atheris leaves alone."""
    spec = find_spec("mapper")
    assert spec is not None and spec.origin is not None
    floors = [(Path(spec.origin).parent / floor).resolve() for floor in UNWATCHED]
    paths = [path.relative_to(floor.parent) for floor in floors for path in floor.rglob("*.py")]
    names = [path.with_suffix("").parts for path in paths if not path.stem.endswith(WATCHED)]
    return [".".join(("mapper", *name)).removesuffix(".__init__") for name in names]


def _try(guard: Guard, number: int, data: bytes, report: Report) -> None:
    find = guard.trial(number, data)
    if find is None:
        return
    report.add(find, data)
    if find.place == "memory":
        (guard.folder / "progress").write_text(str(number + 1))
        sys.stdout.flush()
        os._exit(SPENT)
