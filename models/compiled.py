"""Functions in machine code: compiled by numba when first called, and kept on disk.

A machine that has never run a function has no machine code of it, and compiling takes up to a minute in which nothing
can be stopped. Within `limited` nobody waits for that: a function that has none runs as the plain Python that it is
(`plain`), with the same result, while another process compiles it (`compiling`); whoever is done first wins.
"""

from __future__ import annotations

import atexit
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dis import get_instructions
from functools import cached_property, partial
from importlib import import_module
from types import FunctionType, NoneType
from typing import Any, get_args, get_origin, get_type_hints

from mapper.models.limit import current
from mapper.workloads.process.temporary import temporary_folder


class Compiled:
    """A function in machine code, compiled (or read from disk) when it is first called.

    The compiled functions it calls are those that its module knows by the names it uses, or ``instead`` of these
    others by the same names. They stand in the globals of a twin of the function, where numba resolves its calls.
    The name of the twin carries a hash of its code, of the numbers it takes from its module, of the fields of the named
    tuples known there and of its callees: numba's cache on disk looks at one file only and would go on using a kernel
    whose callee or constant in another file has changed.
    """

    def __init__(
        self, function: Callable[..., Any], instead: dict[str, Compiled], **options: bool | str
    ) -> None:
        assert isinstance(function, FunctionType)
        self._function, self._instead, self._options = function, instead, options

    @cached_property
    def _called(self) -> dict[str, Compiled]:
        """The compiled functions it calls, by the names it uses."""
        scope = self._function.__globals__
        used = (one.argval for one in get_instructions(self._function) if one.opname == "LOAD_GLOBAL")
        known = ((name, scope.get(name)) for name in used)
        return {name: callee for name, callee in known if isinstance(callee, Compiled)} | self._instead

    @cached_property
    def identity(self) -> str:
        """The function's name with the hash of all the code it runs."""
        code = self._function.__code__
        callees = sorted((name, callee.identity) for name, callee in self._called.items())
        scope = self._function.__globals__
        numbers = [(name, scope[name]) for name in code.co_names if isinstance(scope.get(name), int | float)]
        numbers += [
            (name, value._fields) for name, value in sorted(scope.items()) if hasattr(value, "_fields")
        ]
        content = repr((code.co_code, code.co_consts, code.co_names, numbers, callees))
        content += repr(sorted(self._options.items())) if self._options else ""
        return f"{self._function.__qualname__}_{hashlib.sha256(content.encode()).hexdigest()[:12]}"

    @property
    def name(self) -> str:
        """What people call the function."""
        return self._function.__qualname__.strip("_")

    @cached_property
    def plain(self) -> Callable[..., Any]:
        """The function as Python runs it, all the way down, with numba's rules for drawing numbers."""
        from mapper.models.plain_numpy import PlainNumpy

        code = self._function.__code__
        names = {name: callee.plain for name, callee in self._called.items()}
        numpy = {"np": PlainNumpy()} if "random" in code.co_names else {}
        scope = {**self._function.__globals__, **numpy, **names}
        return FunctionType(code, scope, self._function.__name__, self._function.__defaults__)

    @cached_property
    def dispatcher(self) -> Any:
        """The function as numba knows it, to be called from Python."""
        dispatcher = self._dispatcher(self.identity)
        # What numba calls where it has no machine code for the types of the arguments.
        dispatcher._compile_for_args = partial(self._missed, dispatcher._compile_for_args)
        return dispatcher

    @cached_property
    def _part(self) -> Any:
        """The function as numba knows it, for compiled functions alone: without the code that takes Python's objects
        apart, which is a fifth of all compiling."""
        return self._dispatcher(f"{self.identity}_part", no_cpython_wrapper=True)

    @property
    def _reached(self) -> Iterator[Compiled]:
        """The compiled functions that its code calls, or the code of those that are lines of it."""
        for callee in self._called.values():
            yield from callee._reached if callee._options.get("inline") else (callee,)

    def refuse_counted(self) -> None:
        """Raises `TypeError` if it counts no arrays and calls what does: it would never give back those that it is
        handed."""
        if self._options.get("_nrt") is not False:
            return
        for callee in self._reached:
            if not _returns_numbers(callee._function):
                raise TypeError(
                    f"{callee._function.__qualname__} must return numbers alone: "
                    f"{self._function.__qualname__}, which calls it, counts no arrays"
                )

    def _dispatcher(self, qualified_name: str, **options: bool) -> Any:
        numba, function = _numba(), self._function
        self.refuse_counted()
        scope = {**function.__globals__, **{name: callee._part for name, callee in self._called.items()}}
        twin = FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
        twin.__module__ = function.__module__
        twin.__qualname__ = qualified_name
        # Divisors are at least one wherever this is used: numpy's rules leave out the check. A function that says
        # nothing of counting arrays would be compiled as its first caller is, and may need what that does without.
        made = partial(
            numba.njit, cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True,
            **{"_nrt": True, **self._options}, **options,
        )  # fmt: skip
        try:
            return _of_types_alone(made(twin))
        except RuntimeError:
            # No folder of numba's can be written: machine code lives as long as this process.
            numba.config.CACHE_DIR = _own_folder()
            return _of_types_alone(made(twin))

    def _missed(self, compile_here: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
        """What to call with ``arguments``, for which there is no machine code in this process."""
        limit = current()
        if limit is None:
            from mapper.models.compiling import alone

            with alone(self):
                found: Callable[..., Any] = compile_here(*arguments)
            return found
        return partial(limit.run, self, limit)

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)


def compiled(function: Callable[..., Any], **instead: Compiled) -> Compiled:
    """``function`` in machine code; see `Compiled`."""
    return Compiled(function, instead)


def inlined(function: Callable[..., Any], **instead: Compiled) -> Compiled:
    """``function`` as lines of every compiled function that calls it: for parts of an inner loop, where a call with its
    arrays would be felt."""
    return Compiled(function, instead, inline="always")


def borrowing(function: Callable[..., Any], **instead: Compiled) -> Compiled:
    """The same for a function that makes no array itself: it does not count who holds those it is given.

    Numba counts wherever it cannot prove it needless: in a long function, and so in one with `inlined` parts, at every
    use of an array. It refuses to compile such a function if it does make one, but not if it returns one it was given:
    the caller would give back what nobody has counted, and memory in use would be freed. So what it returns must be
    declared as numbers; raises `TypeError` otherwise.
    """
    if not _returns_numbers(function):
        raise TypeError(f"{function.__qualname__} must return numbers alone: it counts no arrays")
    return Compiled(function, instead, _nrt=False)


def _returns_numbers(function: Callable[..., Any]) -> bool:
    return _is_of_numbers(get_type_hints(function).get("return"))


def _is_of_numbers(declared: Any) -> bool:
    """Whether no value of this type is or holds an array: numbers, nothing, and tuples of them."""
    if declared in (int, float, bool, NoneType):
        return True
    if get_origin(declared) is tuple:
        return all(map(_is_of_numbers, get_args(declared)))
    return hasattr(declared, "_fields") and all(map(_is_of_numbers, get_type_hints(declared).values()))


def _of_types_alone(dispatcher: Any) -> Any:
    """The dispatcher, of which compiled callers get one function for all values of a type.

    Numba itself compiles another for every number and truth value that stands in a call, and for every function that
    hands it on.
    """
    asked, types = dispatcher.get_call_template, import_module("numba.core.types")

    def by_types(places: tuple[Any, ...], names: dict[str, Any]) -> Any:
        return asked(
            tuple(map(types.unliteral, places)), {name: types.unliteral(one) for name, one in names.items()}
        )

    dispatcher.get_call_template = by_types
    return dispatcher


def _numba() -> Any:
    """Numba, with LLVM's first level of optimisation: kernels run as fast, and take three quarters of the time to
    compile. Who sets another level, or has loaded numba already, keeps that one."""
    os.environ.setdefault("NUMBA_OPT", "1")
    return import_module("numba")


_folders = ExitStack()
"""Where machine code lies that can be kept nowhere else: as long as this process lives."""
atexit.register(_folders.close)
_folder: list[str] = []


def _own_folder() -> str:
    if not _folder:
        _folder.append(str(_folders.enter_context(temporary_folder())))
    return _folder[0]
