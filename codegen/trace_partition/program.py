"""A partition of a network as a program: code of every cluster and all that lies in memory [Chang2018, sec. 4]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from mapper.arch.snowflake import SnowflakeMachine
from mapper.codegen.trace_partition.bank import BankedCode, LayerPieces
from mapper.codegen.trace_partition.layer_code import ClusterWriter
from mapper.codegen.trace_partition.memory import MemoryPlan
from mapper.models.trace_partition.configuration import Configuration
from mapper.models.trace_partition.data.packing import packed
from mapper.models.trace_partition.data.quantisation import LayerData
from mapper.models.trace_partition.isa.program import HostCall, Program, Words
from mapper.models.trace_partition.lowering.layer import TensorView, TraceLayer, TraceNetwork
from mapper.models.trace_partition.mapping import LayerMapping, Partition
from mapper.models.trace_partition.residency import ResidentPlace, resident_places
from mapper.models.trace_partition.steps.plan import LayerPlan, plan_layer


def compile_program(
    network: TraceNetwork,
    partition: Partition,
    machine: SnowflakeMachine,
    configuration: Configuration,
    data: Mapping[str, LayerData],
    calls: tuple[HostCall, ...],
) -> Program:
    """The program of one accelerator: each of several runs the same.

    ``data``: weights and biases by layer; ``calls``: what the host does, one for each of the network's ``hosted``
    layers in order. Clusters share the image and meet after every layer, or have one each, with tensors and calls
    of their own.

    Raises: InputError if the memory does not hold the network or a loop does not fit a bank; ValueError if a mapping
    does not belong to its layer or exceeds the buffers.
    """
    return _Compiler(network, partition, machine, configuration, data, calls).program()


@dataclass(frozen=True)
class _Layer:
    layer: TraceLayer
    mapping: LayerMapping
    resident: ResidentPlace


class _Compiler:
    def __init__(
        self,
        network: TraceNetwork,
        partition: Partition,
        machine: SnowflakeMachine,
        configuration: Configuration,
        data: Mapping[str, LayerData],
        calls: tuple[HostCall, ...],
    ) -> None:
        self._network, self._machine, self._configuration = network, machine, configuration
        self._data, self._calls = data, calls
        resident = resident_places(network, partition, machine, configuration)
        self._layers = {
            layer.name: _Layer(layer, mapping, place)
            for layer, mapping, place in zip(network.traced, partition.layers, resident, strict=True)
        }
        self._sharing = configuration.sharing
        self._images = configuration.clusters if self._sharing == 1 else 1
        self._memory = MemoryPlan(machine)

    def program(self) -> Program:
        tensors = [self._tensor_places(image) for image in range(self._images)]
        weights = [self._weight_places(share) for share in self._shares()]
        clusters = []
        for cluster in range(self._configuration.clusters):
            image, share = (0, cluster) if self._sharing > 1 else (cluster, 0)
            code = BankedCode(list(self._code(image, share, {**tensors[image], **weights[share]})))
            clusters.append(code.at(self._memory.take(code.words, f"code of cluster {cluster}")))
        return Program(
            self._network.name,
            self._memory.words,
            tuple(clusters),
            tuple(self._memory.segments),
            tuple(self._memory.tensors),
            tuple(self._call(call, image) for image in range(self._images) for call in self._calls),
            tuple(self._views(self._network.inputs, image) for image in range(self._images)),
            tuple(self._views(self._network.outputs, image) for image in range(self._images)),
            shapes=self._network.shapes,
            accelerators=self._configuration.accelerators,
        )

    def _shares(self) -> range:
        """The different parts of a layer: a cluster that shares an image has its own."""
        return range(self._sharing)

    def _named(self, tensor: str, image: int) -> str:
        return tensor if self._images == 1 else f"{image}/{tensor}"

    def _tensor_places(self, image: int) -> dict[str, int]:
        return {
            name: self._memory.tensor(self._named(name, image), words)
            for name, words in self._network.tensors
        }

    def _weight_places(self, share: int) -> dict[str, int]:
        places = {}
        for name, layer in self._layers.items():
            words = packed(layer.layer, layer.mapping, self._machine, self._data[name], self._sharing, share)
            for kind, packing in zip(("weights", "bias"), words, strict=True):
                places[f"{kind}:{name}"] = self._segment(f"{kind}:{name}", share, packing)
            places[f"table:{name}"] = self._segment(f"table:{name}", share, self._data[name].table)
        return places

    def _segment(self, name: str, share: int, words: Words) -> int:
        """Equal packings of several clusters lie in memory once."""
        for segment in self._memory.segments:
            if segment.name.partition("@")[0] == name and np.array_equal(segment.words, words):
                return segment.address
        return self._memory.segment(f"{name}@{share}" if share else name, words) if len(words) else 0

    def _code(self, image: int, share: int, places: Mapping[str, int]) -> Iterator[LayerPieces]:
        writer, hosted = ClusterWriter(), iter(self._calls)
        for layer in self._network.layers:
            if isinstance(layer, TraceLayer):
                this = self._layers[layer.name]
                plan = plan_layer(layer, this.mapping, self._machine, self._sharing, share, *this.resident)
                self._check_buffers(layer, plan)
                writer.layer(plan.steps(), places)
                if self._sharing > 1:
                    writer.synchronise()
            else:
                if self._configuration.clusters > 1:
                    writer.synchronise()
                writer.call(self._number(next(hosted), image))
            yield LayerPieces(layer.name, writer.taken())

    def _check_buffers(self, layer: TraceLayer, plan: LayerPlan) -> None:
        for words, have, buffer in (
            (plan.unit_words, self._machine.unit_words, "unit's Buf"),
            (plan.vmac_words, self._machine.vmac_words, "vMAC's WBuf"),
        ):
            if words > have:
                raise ValueError(f"{layer.name}: needs {words} words of each {buffer} of {have}")

    def _number(self, call: HostCall, image: int) -> int:
        return call.number + image * len(self._calls)

    def _call(self, call: HostCall, image: int) -> HostCall:
        return replace(
            call,
            number=self._number(call, image),
            inputs=tuple(self._view(view, image) for view in call.inputs),
            output=self._view(call.output, image),
        )

    def _view(self, view: TensorView, image: int) -> TensorView:
        return replace(view, tensor=self._named(view.tensor, image))

    def _views(
        self, named: tuple[tuple[str, TensorView], ...], image: int
    ) -> tuple[tuple[str, TensorView], ...]:
        return tuple((name, self._view(view, image)) for name, view in named)
