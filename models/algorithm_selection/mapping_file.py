"""Algorithm selections read from documents; the inverse of ``Selection.to_json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mapper.models.algorithm_selection.choice import Algorithm, Choice, Dataflow
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.workloads.document import InputError, validation_error

Side = Annotated[int, Field(ge=1, le=1 << 20, strict=True)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class _Choice(_Part):
    algorithm: Algorithm
    dataflow: Dataflow
    parts: Annotated[int, Field(ge=1, le=1 << 20, strict=True)] = 1


class _Document(_Part):
    array: Annotated[list[Side], Field(min_length=2, max_length=2)]
    choice: dict[str, _Choice]
    stores: dict[str, Annotated[str, Field(max_length=200)]]
    on_chip: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = []


def selection_from_json(fields: Mapping[str, Any], network: OverlayNetwork, source: str) -> Selection:
    """The selection for ``network`` that a document says.

    Raises: InputError if a key is unknown, missing or ill-typed, or names are not those of the network. Whether the
    selection keeps the rules is the referee's to say.
    """
    try:
        document = _Document.model_validate(dict(fields))
    except ValidationError as error:
        raise validation_error(error, source, _Document) from None
    stores = tuple(store.name for store in network.stores)
    for field, found, wanted in (
        ("choice", document.choice, network.names),
        ("stores", document.stores, stores),
    ):
        wrong = sorted(set(found) ^ set(wanted))
        if wrong:
            remedy = (
                f"must name every {'layer' if field == 'choice' else 'tensor'} of the overlay, and no other"
            )
            raise InputError(source, f"{field}.{wrong[0][:60]}", remedy)
    edges = {
        (store.name, network.layers[store.readers[0]].name): at
        for at, store in enumerate(network.stores)
        if not store.vertex
    }
    kept = []
    for producer, reader in document.on_chip:
        if (producer, reader) not in edges:
            place = f"{producer[:40]!r} to {reader[:40]!r}"
            raise InputError(source, "on_chip", f"{place} is not an edge between two consecutive layers")
        kept.append(edges[producer, reader])
    rows, columns = document.array
    return Selection(
        (rows, columns),
        tuple(
            Choice(one.algorithm, one.dataflow, one.parts)
            for one in (document.choice[name] for name in network.names)
        ),
        tuple(document.stores[name] for name in stores),
        tuple(sorted(kept)),
    )
