"""Functions that do not count who holds arrays: they neither return one nor call what hands them one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from mapper.models.compiled import Compiled, borrowing, compiled
from tests.models.test_compiled import cold, said

ROOT = Path(__file__).parents[2]


class _Half(NamedTuple):
    counts: Any
    last: int


def _first_half(counts: Any) -> _Half:
    return _Half(counts[:2], counts[1])


class _Pair(NamedTuple):
    total: int
    share: float


def _returns_numbers(counts: Any) -> tuple[_Pair, bool]:
    return _Pair(counts[0], counts[1] / 2), True


def _returns_what_it_was_given(counts: Any) -> Any:
    return counts


def _hides_what_it_was_given(counts: Any) -> tuple[int, _Half]:
    return 0, _Half(counts, 0)


def test_what_counts_no_arrays_may_return_numbers() -> None:
    assert borrowing(_returns_numbers).plain([4, 3]) == (_Pair(4, 1.5), True)


@pytest.mark.parametrize("function", [_returns_what_it_was_given, _hides_what_it_was_given, _first_half])
def test_what_counts_no_arrays_may_not_return_one(function: Callable[..., Any]) -> None:
    # The caller would give back what nobody counted: memory in use is freed.
    with pytest.raises(TypeError, match=f"{function.__name__} must return numbers alone"):
        borrowing(function)


def _copied_down(counts: Any) -> None:
    # Of an array that may be the same one numba makes a copy first.
    counts[2:] = counts[: len(counts) - 2]


copied_down: Any = compiled(_copied_down)


def _first_after_copying(counts: Any) -> int:
    copied_down(counts)
    return int(counts[2])


def test_who_is_compiled_first_for_a_caller_that_counts_no_arrays_may_make_one(tmp_path: Path) -> None:
    script = """
        import numpy as np
        from tests.models.test_borrowing import _first_after_copying
        from mapper.models.compiled import borrowing
        print(borrowing(_first_after_copying)(np.array([4, 3, 2, 1])))
    """
    assert said(cold(script, tmp_path, PYTHONPATH=str(ROOT))) == "4\n"


first_half: Any = compiled(_first_half)


def _first_of_half(counts: Any) -> int:
    return int(first_half(counts)[0])


def test_what_counts_no_arrays_may_not_be_handed_one() -> None:
    # It would never give it back: memory grows.
    with pytest.raises(TypeError, match=r"_first_half must return numbers alone: _first_of_half"):
        borrowing(_first_of_half)(np.array([4, 3]))


def calls_of(known: Iterable[Any]) -> Iterator[Compiled]:
    """The compiled functions among ``known``, and those they call."""
    for one in known:
        if isinstance(one, Compiled):
            yield one
            yield from calls_of(one._called.values())


KERNELS = [
    path.relative_to(ROOT).with_suffix("")
    for floor in ("models", "formulations", "solver", "sim")
    for path in sorted((ROOT / floor).rglob("*.py"))
    if path.name != "compiled.py" and "borrowing(" in path.read_text()
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_no_kernel_that_counts_no_arrays_is_handed_one(kernel: Path) -> None:
    # Said when it is compiled, and so by no test that finds its machine code.
    for one in calls_of(vars(import_module(".".join(("mapper", *kernel.parts)))).values()):
        one.refuse_counted()
