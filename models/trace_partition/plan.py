"""The steps of one layer on one cluster under its mapping: what each loads, computes and stores (004, section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mapper.arch.snowflake import SnowflakeMachine
from mapper.models.trace_partition.mapping import LayerMapping
from mapper.models.trace_partition.step import ComputeObject, Load, Operand, Step, Store
from mapper.models.trace_partition.trace_layer import TraceLayer


class LoadClass(NamedTuple):
    """Loads of equal transfers but for their addresses; ``step`` is the first step that has one."""

    operand: Operand
    step: int


class StepClass(NamedTuple):
    """A step but for its addresses. ``compute`` and ``store`` (None: stores nothing) are the first steps with equal
    compute objects and an equal store."""

    loads: tuple[LoadClass, ...]
    compute: int
    store: int | None


class LayerPlan:
    """The steps of a layer on one cluster.

    ``unit_words``: words of Buf that each unit needs, maps that stay there included. ``vmac_words``: words of WBuf
    that each vMAC needs. ``weight_words``, ``bias_words``: length of this cluster's packing (packing.py), from whose
    start the transfers of ``weights:<layer>`` and ``bias:<layer>`` count. A cluster without a share has no steps and
    no packing. All are plain numbers: what they exceed is for the caller to see.
    """

    unit_words: int
    vmac_words: int
    weight_words: int
    bias_words: int

    def steps(self) -> Iterator[Step]:
        """The steps in order."""
        raise NotImplementedError

    def classes(self) -> tuple[StepClass, ...]:
        """The class of every step, in order."""
        raise NotImplementedError

    def load(self, which: LoadClass) -> Load:
        """The load that represents its class."""
        raise NotImplementedError

    def compute(self, which: int) -> tuple[ComputeObject, ...]:
        """The compute objects of step ``which``, which represent a class."""
        raise NotImplementedError

    def store(self, which: int) -> Store:
        """The store of step ``which``, which represents a class."""
        raise NotImplementedError


def plan_layer(
    layer: TraceLayer,
    mapping: LayerMapping,
    machine: SnowflakeMachine,
    sharing: int = 1,
    cluster: int = 0,
    input_at: int | None = None,
    output_at: int | None = None,
) -> LayerPlan:
    """The steps of ``layer`` on cluster number ``cluster`` of the ``sharing`` that share the image. ``input_at`` and
    ``output_at``: first word in Buf of maps that stay there (None: input at 0, output at the end).

    Raises: ValueError if the mapping is none of this layer: a tile that is larger than the layer, a mode, a split or a
    residency that its work does not have.
    """
    raise NotImplementedError
