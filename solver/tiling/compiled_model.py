"""The functions of ``models/tiling/cost.py``, compiled: same source lines, same numbers, machine speed.

Arguments per operand are numpy arrays: ``int64`` for reuse factors, cycles, tiles and networks, ``float64``
for energies, ``bool_`` for flags. Compiled code is kept on disk; see `compiled` for when it is made anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba

from mapper.models.tiling import cost


def compiled(function: Callable[..., Any], **called: Any) -> Any:
    """``function`` in machine code; ``called`` are the compiled functions it calls, by the names it uses.

    The callees stand in the globals of a twin of the function, where numba resolves its calls. The name of
    the twin carries a hash of its code and of its callees': numba's cache on disk looks at one file only
    and would go on using a kernel whose callee in another file has changed.
    """
    assert isinstance(function, FunctionType)
    code = function.__code__
    callees = sorted((name, callee.py_func.__qualname__) for name, callee in called.items())
    content = repr((code.co_code, code.co_consts, code.co_names, callees))
    twin = FunctionType(code, {**function.__globals__, **called}, function.__name__, function.__defaults__)
    twin.__module__ = function.__module__
    twin.__qualname__ = f"{function.__qualname__}_{hashlib.sha256(content.encode()).hexdigest()[:12]}"
    # Divisors are passes and reuse factors, which are at least one: numpy's rules leave out the check.
    return numba.njit(twin, cache=True, nogil=True, error_model="numpy")


rf_transfers = compiled(cost.rf_transfers)
dram_transfers = compiled(cost.dram_transfers)
layer_cycles = compiled(cost.layer_cycles)
layer_energy = compiled(cost.layer_energy, rf_transfers=rf_transfers, dram_transfers=dram_transfers)
