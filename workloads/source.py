"""From what a user calls a workload to the network that is meant."""

from __future__ import annotations

from pathlib import Path

from mapper.workloads.catalogue import CATALOGUE, entry_bytes
from mapper.workloads.document import (
    LARGEST_DOCUMENT_BYTES,
    InputError,
    decoded,
    is_file,
    parse_document,
    read_bytes,
    sha256,
)
from mapper.workloads.nest.convolution_file import CONVOLUTIONS_SCHEMA, convolutions_from_document
from mapper.workloads.nest.nest_file import NEST_SCHEMA, nest_from_document
from mapper.workloads.nest.timeloop_problem import is_timeloop_problem, timeloop_nest
from mapper.workloads.network.building import layer_part, network_layers
from mapper.workloads.network.naming import names_of, no_such_layer, own_name
from mapper.workloads.network.network import NO_DIMS, Dims, InputFile, Layer, Network
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.network.operator_network import OperatorNetwork
from mapper.workloads.recurrence.recurrence import Recurrence
from mapper.workloads.recurrence.recurrence_file import (
    RECURRENCE_SCHEMA,
    carries_values,
    recurrence_from_document,
    recurrence_of_nest,
)
from mapper.workloads.text.nearest import nearest

DOCUMENT_SUFFIXES = (".yaml", ".yml", ".json")
LARGEST_BATCH = 1 << 20


def load_network(text: str, batch: int | None = None, dims: Dims = NO_DIMS) -> Network:
    """The workload called ``text``: a catalogue name, a file, or either with ``/part`` for one layer.

    Files are ``.onnx`` models and ``.yaml`` or ``.json`` documents with a ``schema`` key. A loop nest is a
    network of one layer. ``batch`` replaces the number of images a network is given at once, ``dims`` gives open
    dimensions of a model their sizes.

    Raises: InputError if there is no such workload or it cannot be read.
    """
    name, part = _named(text, batch)
    network = _whole(name, batch, dims)
    return network if part is None else _part(network, name, part)


def load_recurrence(text: str, batch: int | None = None) -> tuple[Recurrence, tuple[InputFile, ...]] | None:
    """The recurrence called ``text`` and the file it came from: a document of one, or of a loop nest that carries
    values from iteration to iteration; None if it leads to another workload.

    Raises: InputError if there is no such workload or it cannot be read.
    """
    if text not in CATALOGUE and _suffix(text) in DOCUMENT_SUFFIXES and is_file(Path(text)):
        data = read_bytes(Path(text), LARGEST_DOCUMENT_BYTES)
        fields = parse_document(data, text)
        if fields.get("schema") == RECURRENCE_SCHEMA:
            _refuse_batch(text, batch)
            return recurrence_from_document(fields, text), (InputFile(text, sha256(data)),)
    network = load_network(text, batch)
    if len(network.layers) != 1 or not carries_values(network.layers[0].nest):
        return None
    return recurrence_of_nest(network.layers[0].nest, text), network.inputs


def load_operators(text: str, batch: int | None = None, dims: Dims = NO_DIMS) -> OperatorNetwork:
    """The network called ``text`` as a graph of operators: a catalogue name or an ``.onnx`` file, or either with
    ``/part`` for one operator. ``batch`` and ``dims`` as in ``load_network``.

    Raises: InputError if there is no such workload, it is no graph of operators, or it cannot be read.
    """
    name, part = _named(text, batch)
    network = _operators(name, batch, dims)
    if part is None:
        return network
    return network.part(own_name(part, [(one.name, one.source) for one in network.operators], name))


def load_layers(text: str, batch: int | None = None, dims: Dims = NO_DIMS) -> LayerNetwork:
    """The layers of the network called ``text``, for a processor that runs one after another; with ``/part`` one
    layer with all that is merged into it.

    Raises: InputError as ``load_operators``.
    """
    name, part = _named(text, batch)
    network = network_layers(_operators(name, batch, dims))
    if part is None:
        return network
    return layer_part(network, own_name(part, names_of(network), name))


def _named(text: str, batch: int | None) -> tuple[str, str | None]:
    """The workload that is meant, and the part of it that is asked for if one is."""
    if batch is not None and not 1 <= batch <= LARGEST_BATCH:
        raise InputError(
            "--batch", "", f"{batch} is not between 1 and {LARGEST_BATCH}; give a positive number"
        )
    if _is_whole(text):
        return text, None
    for slash in reversed([place for place, sign in enumerate(text) if sign == "/"]):
        # Names of ONNX nodes hold slashes too.
        if not text[:slash].endswith("/") and _is_whole(text[:slash]):
            return text[:slash], text[slash + 1 :]
    raise InputError(text[:80] or "workload", "", _unknown(text))


def _is_whole(text: str) -> bool:
    return text in CATALOGUE or ("\0" not in text and _suffix(text) in (".onnx", *DOCUMENT_SUFFIXES))


def _suffix(text: str) -> str:
    return Path(text).suffix.lower()


def _whole(text: str, batch: int | None, dims: Dims) -> Network:
    if text not in CATALOGUE:
        if _suffix(text) == ".onnx":
            from mapper.workloads.onnx.process import read_network

            return read_network(Path(text), batch, dims)
        path = _existing(text)
        _refuse_dims(text, dims)
        return _document(read_bytes(path, LARGEST_DOCUMENT_BYTES), text, text, batch)
    _refuse_dims(text, dims)
    data, origin = entry_bytes(text), f"catalogue:{text}"
    if CATALOGUE[text].origin == "document":
        return _document(data, text, origin, batch)
    from mapper.workloads.onnx.file import parse_model
    from mapper.workloads.onnx.network import network_of

    inputs = (InputFile(origin, sha256(data)),)
    return network_of(parse_model(data, text), text, batch, inputs, CATALOGUE[text].own_names)


def _refuse_dims(text: str, dims: Dims) -> None:
    """Only an ONNX file of the user's has open dimensions.

    Raises: InputError if one is given a size.
    """
    for name in dims:
        raise InputError("--dim", name[:60], f"{text[:60]} has no open dimensions; leave it out")


def _existing(text: str) -> Path:
    """The file that ``text`` names.

    Raises: InputError if there is none.
    """
    path = Path(text)
    if not is_file(path):
        remedy = "is not a file; give an existing one, or a name that `mapper list workloads` shows"
        raise InputError(text[:80], "", remedy)
    return path


def _operators(text: str, batch: int | None, dims: Dims) -> OperatorNetwork:
    if text not in CATALOGUE and _suffix(text) == ".onnx":
        from mapper.workloads.onnx.process import read_operators

        return read_operators(Path(text), batch, dims)
    if text not in CATALOGUE or CATALOGUE[text].origin == "document":
        if text not in CATALOGUE:
            _existing(text)
        remedy = "lists loop nests, not a graph of operators; give an ONNX network"
        raise InputError(text[:80], "", remedy)
    from mapper.workloads.onnx.file import parse_model
    from mapper.workloads.onnx.operator import operators_of

    _refuse_dims(text, dims)
    data = entry_bytes(text)
    files = (InputFile(f"catalogue:{text}", sha256(data)),)
    return operators_of(parse_model(data, text), text, batch, files, CATALOGUE[text].own_names)


def _document(data: bytes, source: str, origin: str, batch: int | None) -> Network:
    inputs = (InputFile(origin, sha256(data)),)
    if is_timeloop_problem(data.decode("utf-8", "replace")):
        nest, included = timeloop_nest(decoded(data, source), source)
        _refuse_batch(source, batch)
        return Network(nest.name, (Layer(nest.name, nest.name, "Nest", nest),), (), (*inputs, *included))
    fields = parse_document(data, source)
    schema = fields.get("schema")
    if schema == RECURRENCE_SCHEMA:
        raise InputError(source, "schema", "is a recurrence, which runs on a TCPA; try --arch tcpa-4x4")
    if schema == CONVOLUTIONS_SCHEMA:
        return convolutions_from_document(fields, source, inputs, batch)
    if schema != NEST_SCHEMA:
        found = f"{schema[:40]!r} is not a schema of a workload" if isinstance(schema, str) else "is missing"
        raise InputError(source, "schema", f"{found}; write {NEST_SCHEMA} or {CONVOLUTIONS_SCHEMA}")
    nest = nest_from_document(fields, source)
    _refuse_batch(source, batch)
    return Network(nest.name, (Layer(nest.name, nest.name, "Nest", nest),), (), inputs)


def _refuse_batch(source: str, batch: int | None) -> None:
    if batch is not None:
        raise InputError("--batch", "", f"{source} is a loop nest and has no batch; change its loops instead")


def _part(network: Network, name: str, part: str) -> Network:
    names = names_of(network)
    own = own_name(part, names, name)
    chosen = [layer for layer in network.layers if layer.name == own]
    if not chosen:
        raise no_such_layer(name, part, names)
    return Network(f"{network.name}/{own}", tuple(chosen), (), network.inputs, network.batch)


def _unknown(text: str) -> str:
    name, _, _ = text.partition("/")
    close = nearest(name, CATALOGUE, 4, 0.5)
    meant = f"did you mean {', '.join(close)}?" if close else "`mapper list workloads` shows the names"
    return f"no such workload, nor a file that ends in .onnx, .yaml or .json; {meant}"
