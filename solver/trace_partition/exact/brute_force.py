"""Brute force: every decision of every layer in every combination; the oracle for small problems."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from mapper.formulations.trace_partition.problem import PartitionProblem
from mapper.formulations.trace_partition.program.option import Family, families
from mapper.formulations.trace_partition.program.option_cost import CostedOption, costed
from mapper.models.trace_partition.mapping import LayerMapping, Partition
from mapper.models.trace_partition.residency import linked, obstacle
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Method, Progress
from mapper.solver.outcome import Outcome
from mapper.solver.trace_partition.outcome import value_of
from mapper.workloads.document import InputError

MOST_OPTIONS = 20_000
MOST_PARTITIONS = 2_000_000


class _StoppedError(Exception):
    """The effort ended."""


def brute_force(problem: PartitionProblem, effort: Effort) -> Outcome[Partition]:
    """The best partition of all, proven.

    Raises: InputError if there are too many to try.
    """
    counts = [_count(problem, at) for at in range(len(problem.network.traced))]
    if sum(counts) > MOST_OPTIONS or prod(counts) > MOST_PARTITIONS:
        has = f"has {prod(counts):.2g} partitions, its layers have {sum(counts)} options in all"
        remedy = (
            f"at most {MOST_PARTITIONS} and {MOST_OPTIONS} are tried; pin decisions or take another method"
        )
        raise InputError("--method", "brute-force", f"{problem.network.name} {has}: {remedy}")
    search = _Search(problem, effort)
    stop: Stop = "complete"
    try:
        search.run()
    except _StoppedError:
        stop = effort.stopped() or "interrupted"
    proven = stop == "complete"
    if search.best is None:
        return Outcome.ended(None, None, None, stop, proven=proven, evaluations=search.seen)
    partition = Partition(tuple(option.mapping for option in search.best))
    value = value_of(problem, partition)
    return Outcome.ended(partition, value, None, stop, proven=proven, evaluations=search.seen)


def _families(problem: PartitionProblem, at: int) -> Iterator[Family]:
    """The families of a layer, whatever its neighbours take."""
    layer, links = problem.network.traced[at], linked(problem.network)
    for before in (False, True) if at > 0 and links[at - 1] else (False,):
        for after in (False, True) if links[at] else (False,):
            yield from families(problem, layer, before, after)


def _count(problem: PartitionProblem, at: int) -> int:
    return sum(family.size for family in _families(problem, at))


class _Search:
    """Partitions one after another, the first layer's decisions slowest."""

    def __init__(self, problem: PartitionProblem, effort: Effort) -> None:
        self.problem, self.effort = problem, effort
        self.layers = problem.network.traced
        self.sharing = problem.configuration.sharing
        self.seen = 0
        self.best: tuple[CostedOption, ...] | None = None
        self.rank: tuple[int, ...] = ()

    def run(self) -> None:
        options = []
        for at, layer in enumerate(self.layers):
            here = []
            for family in _families(self.problem, at):
                for mapping in family.mappings():
                    self._go_on()
                    option = costed(self.problem, layer, mapping)
                    if option is not None:
                        here.append(option)
            options.append(here)
        self._extend(options, (), (0, 0, 0))

    def _go_on(self) -> None:
        if self.seen % 64 == 0 and self.effort.stopped() is not None:
            raise _StoppedError
        self.seen += 1

    def _extend(
        self, options: list[list[CostedOption]], chosen: tuple[CostedOption, ...], rank: tuple[int, ...]
    ) -> None:
        at = len(chosen)
        if at == len(options):
            self._go_on()
            if self.best is None or rank < self.rank:
                self.best, self.rank = chosen, rank
                self.effort.report(Progress(None, None, self.seen))
            return
        for option in options[at]:
            if not chosen or self._agree(at - 1, chosen[-1].mapping, option.mapping):
                total = tuple(a + b for a, b in zip(rank, option.rank, strict=True))
                self._extend(options, (*chosen, option), total)

    def _agree(self, before: int, one: LayerMapping, other: LayerMapping) -> bool:
        if one.output_resident != other.input_resident:
            return False
        first, second = self.layers[before : before + 2]
        return not one.output_resident or obstacle(first, one, second, other, self.sharing) is None


BRUTE_FORCE: Method[PartitionProblem, Partition] = Method(
    "brute-force", True, "every decision of every layer in every combination; for small networks", brute_force
)
