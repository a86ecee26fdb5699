"""What layers are called: by names of their own (``conv1 ...``), and by those that an ONNX file gives its nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mapper.workloads.document import InputError
from mapper.workloads.network.network import Network
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.text.nearest import meant, nearest

Names = Sequence[tuple[str, str]]
"""Layers by their own name and that of their node in the file ("" where it has none)."""


def names_of(value: object) -> Names:
    """The layers of a network; nothing else has names that a file gives."""
    if isinstance(value, Network):
        return [(layer.name, layer.source) for layer in value.layers]
    if isinstance(value, LayerNetwork):
        return [(layer.name, layer.operator.source) for layer in value.layers]
    return ()


def own_name(text: str, names: Names, place: str) -> str:
    """The own name of the layer called ``text``; ``text`` itself if it is none.

    Raises: InputError if several layers, or one by its own name and another by its node's, are called so.
    """
    found = [own for own, source in names if text in (own, source) and text]
    if len(found) > 1:
        listed = ", ".join(found[:4])
        raise InputError(place, text[:80], f"is the name of several layers; give one of {listed}")
    return found[0] if found else text


def own_fix(fix: Mapping[str, str], names: Names) -> dict[str, str]:
    """Pinned decisions under the layers' own names: at the head of keys, before a point, and among values.

    Raises: InputError as ``own_name``.
    """
    own = {name for name, _ in names}
    sources = sorted({source for _, source in names if source} - own, key=len, reverse=True)
    found = {}
    for key, value in fix.items():
        head = next((one for one in sources if key == one or key.startswith(f"{one}.")), None)
        if head is not None and key.partition(".")[0] not in own:
            key = own_name(head, names, "--fix") + key[len(head) :]
        words = re.split(r"([,+])", value)
        found[key] = "".join(own_name(word, names, "--fix") if word in sources else word for word in words)
    return found


def no_such_layer(network: str, text: str, names: Names) -> InputError:
    """The error for a name that no layer has, with the nearest ones."""
    known = [name for layer in names for name in layer if name]
    there = dict.fromkeys([*nearest(text, known), *(own for own, _ in names[:3])])
    remedy = (
        f"no such layer among its {len(names)}; {meant(text, known)}there are {', '.join(list(there)[:3])}"
    )
    return InputError(network, text[:40], remedy)
