"""mapper: how loops, kernels and networks run on accelerators, by formal optimisation, with proofs.

The public API: ``solve``, ``compare``, ``explain``, ``evaluate``, ``sweep``, ``simulate``, ``generate``, ``front``,
``sweep_front``, ``side_by_side``, ``certify``, ``check``, ``report``, ``load`` take names, paths and values and return
values; nothing is printed. What ``mapper list workloads`` and ``mapper list archs`` name, and files, go in as text:

    >>> solution = mapper.solve("matmul", "dmazerunner-256", "energy", search=mapper.Search(time_limit=60))
    >>> solution.cost["energy_pj"], solution.certificate.proven
    >>> mapper.simulate(solution)["agrees"]

A problem that cannot be posed is an ``InputError``, whose text is one line with the remedy.
"""

from __future__ import annotations

# Not from typing: signals that come before the program answers them kill it, so little is imported before.
TYPE_CHECKING = False

if TYPE_CHECKING:
    __version__: str
    from mapper.api.comparison import compare
    from mapper.api.explaining import explain
    from mapper.api.inference import Inference, load
    from mapper.api.search import Search
    from mapper.api.side_by_side import side_by_side
    from mapper.api.solution import Solution
    from mapper.api.trade_off import front
    from mapper.api.verb import evaluate, generate, simulate, solve
    from mapper.kind.part import Options
    from mapper.models.limit import UnfinishedError
    from mapper.proving.checker import check
    from mapper.proving.proof_document import certify
    from mapper.reporting import report
    from mapper.solver.contradiction import ContradictionError
    from mapper.sweeping.co_design import sweep_front
    from mapper.sweeping.sweep import sweep
    from mapper.workloads.document import InputError

__all__ = [
    "ContradictionError",
    "Inference",
    "InputError",
    "Options",
    "Search",
    "Solution",
    "UnfinishedError",
    "__version__",
    "certify",
    "check",
    "compare",
    "evaluate",
    "explain",
    "front",
    "generate",
    "load",
    "report",
    "side_by_side",
    "simulate",
    "solve",
    "sweep",
    "sweep_front",
]

_HOMES = {
    "ContradictionError": "mapper.solver.contradiction",
    "Inference": "mapper.api.inference",
    "InputError": "mapper.workloads.document",
    "Options": "mapper.kind.kind",
    "Search": "mapper.api.search",
    "Solution": "mapper.api.solution",
    "UnfinishedError": "mapper.models.limit",
    "certify": "mapper.proving.proof_document",
    "check": "mapper.proving.checker",
    "compare": "mapper.api.comparison",
    "explain": "mapper.api.explaining",
    "front": "mapper.api.trade_off",
    "load": "mapper.api.inference",
    "report": "mapper.reporting",
    "side_by_side": "mapper.api.side_by_side",
    "sweep": "mapper.sweeping.sweep",
    "sweep_front": "mapper.sweeping.co_design",
}


def __dir__() -> list[str]:
    """What completion and ``help`` list: what is public, imported or not."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def __getattr__(name: str) -> object:
    """Import a public name where it is first used: ``mapper --help`` must not wait for solvers."""
    if name == "__version__":
        from importlib.metadata import version

        return version("mapper-engine")
    if name not in __all__:
        raise AttributeError(f"module 'mapper' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "mapper.api.verb")), name)
