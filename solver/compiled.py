"""Functions in machine code: compiled by numba when first called, and kept on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property
from types import FunctionType
from typing import Any


class Compiled:
    """A function in machine code, compiled (or read from disk) when it is first called.

    ``called`` are the compiled functions it calls, by the names it uses; they stand in the globals of a twin
    of the function, where numba resolves its calls. The name of the twin carries a hash of its code, of the
    numbers it takes from its module and of its callees: numba's cache on disk looks at one file only and would
    go on using a kernel whose callee or constant in another file has changed.
    """

    def __init__(self, function: Callable[..., Any], called: dict[str, Compiled]) -> None:
        assert isinstance(function, FunctionType)
        self._function, self._called = function, called

    @cached_property
    def identity(self) -> str:
        """The function's name with the hash of all the code it runs."""
        code = self._function.__code__
        callees = sorted((name, callee.identity) for name, callee in self._called.items())
        scope = self._function.__globals__
        numbers = [(name, scope[name]) for name in code.co_names if isinstance(scope.get(name), int | float)]
        content = repr((code.co_code, code.co_consts, code.co_names, numbers, callees))
        return f"{self._function.__qualname__}_{hashlib.sha256(content.encode()).hexdigest()[:12]}"

    @cached_property
    def dispatcher(self) -> Any:
        """The function as numba knows it."""
        import numba

        function = self._function
        names = {name: callee.dispatcher for name, callee in self._called.items()}
        scope = {**function.__globals__, **names}
        twin = FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
        twin.__module__ = function.__module__
        twin.__qualname__ = self.identity
        # Divisors are at least one wherever this is used: numpy's rules leave out the check.
        return numba.njit(twin, cache=True, nogil=True, error_model="numpy")

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)


def compiled(function: Callable[..., Any], **called: Compiled) -> Compiled:
    """``function`` in machine code; see `Compiled`."""
    return Compiled(function, called)
