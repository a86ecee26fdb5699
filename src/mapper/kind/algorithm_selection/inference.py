"""Inference on the overlay from Python: a generated image of DRAM, run by the functional model of its program."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import machine_from_document, machine_to_document
from mapper.kind.operator_structure import operator_structure, read_operator_structure
from mapper.models.algorithm_selection.control.sequence import Control
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.number.network_number import Integers, NetworkNumbers
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.models.algorithm_selection.overlay.order import ordered
from mapper.workloads.document import InputError, parse_document, read_bytes
from mapper.workloads.network.network_layer import LayerNetwork

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Image = npt.NDArray[Any] | Mapping[str, npt.NDArray[Any]]
    Answer = npt.NDArray[np.float32] | dict[str, npt.NDArray[np.float32]]

PLACES, NETWORK, CONSTANTS, DRAM, CONTROL = (
    "overlay.json", "network.json", "constants.npz", "dram.bin", "control.hex",
)  # fmt: skip
NETWORK_SCHEMA = "mapper.overlay-network/1"
LARGEST_FILE = 1 << 31


@dataclass
class OverlayInference:
    """A network on a generated overlay. ``cycles``: of its program, which do not depend on the image; ``notes`` say
    what runs beside it, uncounted. ``saturated``: numbers of the last run's inputs that are beyond what their integers
    hold."""

    network: LayerNetwork
    control: Control
    numbers: NetworkNumbers
    cycles: int
    notes: tuple[str, ...]
    saturated: int = field(default=0, init=False)
    images: ClassVar[int] = 1

    def run(self, image: Image) -> Answer:
        """What the network makes of an image: an array for a network of one input, or the arrays of all inputs by
        name, each of ONNX's shape or without leading ones, rounded to the inputs' integers. What comes out are numbers
        that the outputs' integers stand for: an array of ONNX's shape, or a dictionary by ONNX's names where there are
        several.

        Raises: InputError if a name or a shape is another.
        """
        import numpy as np

        from mapper.kind.image import given_arrays
        from mapper.sim.algorithm_selection.network import Overlay
        from mapper.workloads.reference.layer import stored

        operators = self.network.operators
        frame = given_arrays(
            operators.name, {name: operators.tensors[name] for name in operators.inputs}, image
        )
        integers = {name: self.numbers.formats[name].integers(values) for name, values in frame.items()}
        self.saturated = sum(
            int((np.abs(self.numbers.formats[name].values(integers[name]) - values) > self._unit(name)).sum())
            for name, values in frame.items()
        )
        work = Overlay(self.network, self.control, self.numbers, integers)
        for _ in work.run():
            pass
        answer = {
            one.tensor: stored(
                one, {one.memory: self.numbers.formats[one.memory].values(work.results[one.memory])}
            )
            for one in self.network.outputs
        }
        return answer if len(answer) > 1 else next(iter(answer.values()))

    def _unit(self, name: str) -> float:
        return self.numbers.formats[name].scale or 1.0


def run_files(
    network: LayerNetwork,
    overlay: OverlayNetwork,
    selection: Selection,
    numbers: NetworkNumbers,
    files: Mapping[str, str | bytes],
) -> dict[str, str | bytes]:
    """``network.json`` (``mapper.overlay-network/1``) and ``constants.npz``, by which a generated overlay can be run;
    none where numbers are drawn."""
    from mapper.models.algorithm_selection.number.number_file import host_constants, numbers_document

    if numbers.weights is None:
        return {}
    document = {
        "schema": NETWORK_SCHEMA,
        "machine": machine_to_document(overlay.machine),
        "mapping": selection.to_json(overlay),
        "numbers": numbers_document(network, numbers),
        "sha256": {name: _hash(files[name]) for name in (CONTROL, DRAM)},
        **operator_structure(network),
    }
    text = json.dumps(document, allow_nan=False, indent=1) + "\n"
    return {NETWORK: text, CONSTANTS: host_constants(network, numbers, overlay.names)}


def load_overlay(folder: Path) -> OverlayInference:
    """The overlay in a folder that ``mapper generate`` wrote.

    Raises: InputError if its files are not those of one network.
    """
    from mapper.formulations.algorithm_selection.problem import SelectionProblem
    from mapper.formulations.algorithm_selection.referee.verify import verify
    from mapper.models.algorithm_selection.control.selection import selection_control
    from mapper.models.algorithm_selection.mapping_file import selection_from_json
    from mapper.models.algorithm_selection.number.number_file import read_numbers
    from mapper.sim.algorithm_selection.host import hosted, hosted_line

    source = str(folder / NETWORK)
    if not (folder / NETWORK).is_file():
        remedy = "is missing: the network had no numbers of its own; mapper simulate says why"
        raise InputError(source, "", remedy)
    fields = parse_document(read_bytes(folder / NETWORK, LARGEST_FILE), source, LARGEST_FILE)
    parts = [fields.get(name) for name in ("machine", "mapping", "numbers", "sha256")]
    if fields.get("schema") != NETWORK_SCHEMA or not all(isinstance(part, dict) for part in parts):
        raise InputError(source, "schema", f"is not {NETWORK_SCHEMA}; generate it again")
    machine = machine_from_document(fields["machine"], source)
    if not isinstance(machine, OverlayMachine):
        raise InputError(source, "machine", "is no overlay; generate it again")
    held = {name: read_bytes(folder / name, LARGEST_FILE) for name in (CONTROL, DRAM)}
    for name, data in held.items():
        if fields["sha256"].get(name) != _hash(data):
            raise InputError(str(folder / name), "", f"is not what {NETWORK} says; generate it again")
    network = read_operator_structure(fields, source)
    network = ordered(network, machine)
    overlay = overlay_network(network, machine)
    selection = selection_from_json(fields["mapping"], overlay, source)
    broken = verify(SelectionProblem(overlay), selection).broken
    if broken:
        raise InputError(
            source, f"mapping.{broken[0].place}", f"breaks a rule: {broken[0].rule}; generate it again"
        )
    control = selection_control(network, overlay, selection)
    products = _products(network, control, held[DRAM], str(folder / DRAM))
    constants = read_bytes(folder / CONSTANTS, LARGEST_FILE)
    numbers = read_numbers(network, fields["numbers"], products, constants, source)
    steps = _step_cycles(folder)
    return OverlayInference(
        network, control, numbers, sum(steps.values()), (hosted_line(hosted(network, steps, machine)),)
    )


def _products(
    network: LayerNetwork, control: Control, data: bytes, source: str
) -> dict[str, tuple[Integers, Integers, Integers]]:
    """Kernels, biases and factors of the array's layers in the image of DRAM."""
    import numpy as np

    from mapper.codegen.algorithm_selection.program import dram_words, scale_addresses

    if len(data) != 4 * dram_words(control):
        raise InputError(source, "", "has not the words of the network; generate it again")
    words, scales = np.frombuffer(data, "<i4").astype(np.int64), scale_addresses(control)
    found = {}
    for step in control.convolutions:
        shape = step.shape
        sizes = (*shape.kernel, shape.in_channels // shape.groups, shape.out_channels)
        kernels = words[step.weight_address : step.weight_address + int(np.prod(sizes))].reshape(sizes)
        bias, factor = words[scales[step.name] :][: 2 * shape.out_channels].reshape(2, -1)
        found[step.name] = kernels, bias, factor
    for layer in network.layers:
        if layer.work == "fully_connected" and layer.name not in found:
            remedy = "runs beside this machine's array, which has no kernels of it; take dynamap-u200"
            raise InputError(network.name, layer.name, remedy)
    return found


def _step_cycles(folder: Path) -> dict[str, int]:
    source = str(folder / PLACES)
    steps = parse_document(read_bytes(folder / PLACES, LARGEST_FILE), source, LARGEST_FILE).get("steps")
    try:
        return {str(one["name"]): int(one["cycles"]) for one in steps or ()}
    except (TypeError, KeyError, ValueError):
        raise InputError(source, "steps", "have no cycles; generate it again") from None


def _hash(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()
