"""Functions without machine code: plain Python answers until another process has compiled them."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections import namedtuple
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from mapper.formulations.pareto import undominated
from mapper.models import plain
from mapper.models.compiled import Compiled, compiled
from mapper.models.compiling import CHILD, Wanted
from mapper.models.limit import Limit, UnfinishedError
from mapper.models.plain import bridged, in_time, limited, nobody_hears, on_disk


def cold(script: str, folder: Path, **environment: str) -> subprocess.Popen[str]:
    """A process in which ``script`` runs, with no machine code but that in ``folder``."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def said(process: subprocess.Popen[str]) -> str:
    out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    return out


COMPILE_UNDOMINATED = """
    import time
    import numpy as np
    from mapper.models.compiling import CHILD, Wanted
    from mapper.models.limit import Limit
    from mapper.models.plain import bridged, nobody_hears
    from mapper.formulations.pareto import undominated
    rows = np.array([[0, 1], [0, 2], [1, 0]])
    wanted = Wanted.of(undominated, (rows,))
    before = wanted.is_read()
    with CHILD.wanted():
        CHILD.ask(wanted, Limit(lambda: None, nobody_hears, bridged))
        while CHILD.is_at(wanted):
            time.sleep(0.01)
    assert wanted.is_read()
    assert not undominated.dispatcher.stats.cache_misses
    print(before, undominated(rows).tolist())
"""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which two processes have compiled the same function at once."""
    folder = tmp_path_factory.mktemp("machine-code")
    processes = [cold(COMPILE_UNDOMINATED, folder) for _ in range(2)]
    assert [said(process) for process in processes] == ["False [True, False, True]\n"] * 2
    return folder


def test_what_two_processes_compile_at_once_is_read_by_the_next(filled: Path) -> None:
    assert said(cold(COMPILE_UNDOMINATED, filled)) == "True [True, False, True]\n"
    indices, codes = list(filled.rglob("*undominated*.nbi")), list(filled.rglob("*undominated*.nbc"))
    assert len(indices) == len(codes) == 1


def test_without_a_folder_to_write_to_machine_code_lives_as_long_as_the_process(tmp_path: Path) -> None:
    script = COMPILE_UNDOMINATED + "    import numba\n    print(numba.config.CACHE_DIR)\n"
    environment = {"NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator", "TMPDIR": str(tmp_path)}
    first, folder = said(cold(script, Path(), **environment, NUMBA_CACHE_DIR="")).splitlines()
    assert first == "False [True, False, True]"
    assert folder.startswith(str(tmp_path))
    assert not list(tmp_path.iterdir())


def _slow(counts: Any, turns: int) -> int:
    for turn in range(turns):
        counts[turn % len(counts)] += 1
    total: int = counts[0]
    return total


def test_plain_python_is_left_for_machine_code_as_soon_as_that_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plain, "PATIENCE", 0.0)
    slow = compiled(_slow)
    counts = np.zeros(2, np.int64)

    def at_once(wanted: Wanted, limit: object) -> None:
        slow.dispatcher.compile(wanted.types)

    monkeypatch.setattr(CHILD, "ask", at_once)
    monkeypatch.setattr(CHILD, "has", lambda wanted: wanted.types in slow.dispatcher.overloads)
    with limited(lambda: None):
        # In plain Python a day; what it had counted by then is not counted twice.
        assert slow(counts, 10**9) == 5 * 10**8
    assert counts.tolist() == [5 * 10**8, 5 * 10**8]


def test_plain_python_ends_with_its_effort_and_leaves_its_arrays_as_they_were() -> None:
    never, counts = Compiled(_never, {}), np.zeros(2, np.int64)
    end = time.monotonic() + 0.2
    began = time.process_time()

    def stopped() -> str | None:
        return "time_limit" if time.monotonic() > end else None

    with pytest.raises(UnfinishedError, match="time_limit"), limited(stopped):
        never(counts)
    assert time.process_time() - began < 10
    assert counts.tolist() == [0, 0]


def test_only_what_is_on_disk_is_read_beforehand() -> None:
    assert not on_disk(lambda: Compiled(_never, {})(np.zeros(2, np.int64)))


def _never(counts: Any) -> None:
    while counts[0] >= 0:
        counts[0] += 1


def test_numbers_that_stand_in_calls_share_one_function() -> None:
    types: Any = import_module("numba.core.types")
    part = compiled(_raised)._part
    for by in (1, 2):
        part.get_call_template((types.int64, types.literal(by)), {})
    assert part.signatures == [(types.int64, types.int64)]


def _raised(count: int, by: int) -> int:
    return count + by


def test_what_asks_no_clock_is_given_up() -> None:
    interrupted = threading.Event()
    threading.Timer(0.1, interrupted.set).start()

    def forever() -> None:
        while True:
            pass

    with pytest.raises(UnfinishedError, match="interrupted"):
        in_time(forever, lambda: "interrupted" if interrupted.is_set() else None)


def test_what_the_compiling_process_cannot_compile_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHILD, "_refused", set())
    # The process knows nothing of this name.
    monkeypatch.setattr(plain, "total_of", total_of, raising=False)
    wanted = Wanted.of(total_of, (np.array([4, 3]),))
    with CHILD.wanted():
        CHILD.ask(wanted, Limit(lambda: None, nobody_hears, bridged))
        while CHILD.is_at(wanted):
            time.sleep(0.01)
        assert "sum" in CHILD.standing().refused
        assert not CHILD.has(wanted)


def test_what_is_done_in_time_is_as_without_a_clock() -> None:
    def fails() -> None:
        raise KeyError("own")

    assert in_time(lambda: 3, lambda: None) == 3
    with pytest.raises(KeyError, match="own"):
        in_time(fails, lambda: None)


def test_nothing_is_raised_where_what_was_watched_has_ended() -> None:
    # Ends at the very moment at which it is given up, many times.
    for turn in range(200):
        end = time.perf_counter() + turn * 1e-4
        limit = Limit(lambda: None, nobody_hears, bridged)
        done, _ = plain._tried(lambda end=end: _until(end), lambda end=end: time.perf_counter() > end)  # type: ignore[misc]
        assert done in (True, False)
        assert limit.stopped() is None


def test_a_run_that_is_slow_to_end_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(ctypes.pythonapi, "PyThreadState_SetAsyncExc", lambda *words: told.append(words))
    outer, inner = plain._Run(lambda: len(told) > 0), plain._Run(lambda: True)
    for _ in range(3):
        plain._watch._end_one((outer, inner))
    assert len(told) == 1 and inner.is_raised and not outer.is_raised
    # What came for the inner one has arrived.
    for _ in range(3):
        plain._watch._end_one((outer,))
    assert len(told) == 2 and outer.is_raised


def test_a_run_inside_another_ends_with_it() -> None:
    interrupted = threading.Event()
    threading.Timer(0.1, interrupted.set).start()

    def inside() -> None:
        in_time(_forever, lambda: None)

    with pytest.raises(UnfinishedError, match="interrupted"):
        in_time(inside, lambda: "interrupted" if interrupted.is_set() else None)
    assert threading.get_ident() not in plain._watch._runs


def test_a_run_around_another_goes_on_after_it() -> None:
    interrupted = threading.Event()
    threading.Timer(0.1, interrupted.set).start()

    def around() -> int:
        with pytest.raises(UnfinishedError):
            in_time(_forever, lambda: "interrupted" if interrupted.is_set() else None)
        return 3

    assert in_time(around, lambda: None) == 3


def _forever() -> None:
    while True:
        pass


def _until(end: float) -> None:
    while time.perf_counter() < end:
        pass


def test_plain_python_draws_the_numbers_that_machine_code_draws() -> None:
    draws = compiled(_draws)
    with np.errstate(all="ignore"):
        assert [draws.plain(seed) for seed in range(5)] == [draws(seed) for seed in range(5)]


def _draws(seed: int) -> tuple[int, int, float, int]:
    np.random.seed(seed)
    return np.random.randint(7), np.random.randint(3, 1000), np.random.random(), np.random.randint(1)


def test_sums_of_narrow_integers_are_as_wide_in_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.full(2, 2**31 - 1, np.int32)
    monkeypatch.setattr(plain, "PATIENCE", 60.0)
    with limited(lambda: None):
        assert Compiled(_total, {})(counts) == 2**32 - 2


def _total(counts: Any) -> int:
    total: int = counts[0] + counts[1]
    return total


def test_a_named_tuple_keeps_its_names_in_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "PATIENCE", 60.0)
    with limited(lambda: None):
        found = Compiled(_first_half, {})(np.arange(4))
    assert found.counts.tolist() == [0, 1] and type(found.last) is int


class _Half(NamedTuple):
    counts: Any
    last: int


def _first_half(counts: Any) -> _Half:
    return _Half(counts[:2], counts[1])


def test_undominated_rows_need_no_machine_code() -> None:
    rows = np.array([[0, 1], [0, 2], [1, 0]])
    assert undominated.plain(rows).tolist() == [True, False, True]


def test_the_fields_of_a_named_tuple_are_part_of_what_machine_code_is_made_of() -> None:
    source = "def first(pair):\n    return pair.one\n"
    identities = []
    for fields in ("one two", "two one", "one two"):
        scope: dict[str, Any] = {"Pair": namedtuple("Pair", fields)}
        exec(source, scope)
        identities.append(compiled(scope["first"]).identity)
    assert identities[0] == identities[2] != identities[1]


def _doubled(counts: Any) -> int:
    total: int = total_of(counts)
    return 2 * total


def _sum(counts: Any) -> int:
    return int(counts.sum())


def _largest(counts: Any) -> int:
    return int(counts.max())


total_of: Any = compiled(_sum)


def test_a_compiled_function_calls_what_its_module_knows_or_what_stands_instead() -> None:
    known, other = compiled(_doubled), compiled(_doubled, total_of=compiled(_largest))
    assert known.identity != other.identity
    assert (known.plain(np.array([2, 3])), other.plain(np.array([2, 3]))) == (10, 6)
