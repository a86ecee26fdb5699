"""Timeloop's architecture as a row of components, outer to inner, each with how many there are.

Version 0.4 lists tagged nodes: a container or component with a ``spatial`` mesh puts a level in front of itself that
keeps nothing and fans out (``inter_NAME_spatial``). Earlier versions nest subtrees whose names carry ranges.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mapper.arch.timeloop.value import name_and_count, whole
from mapper.workloads.document import InputError
from mapper.workloads.text.structured_text import TAG

FANOUT_CLASS = "dummy_storage"
"""What Timeloop's front end calls a level that keeps nothing and fans out."""
NODE_FIELDS = (
    TAG, "name", "class", "subclass", "attributes", "constraints", "spatial", "enabled", "required_actions", "nodes",
    "local", "subtree", "version", "actions", "primitive_components",
)  # fmt: skip
"""Fields of a node; Accelergy's actions and components are in its tables of energies."""


@dataclass
class Component:
    """One component: its class, attributes as written, instances in all and along X, constraints that stand with it,
    and tensors that its siblings in parallel keep."""

    name: str
    sort: str
    attributes: dict[str, Any]
    instances: int
    across: int | None
    constraints: dict[str, Any] = field(default_factory=dict)
    beside: list[str] = field(default_factory=list)
    container: str = ""


@dataclass
class _Place:
    """Where in the tree a component stands: inherited attributes, instances along X and Y."""

    attributes: dict[str, Any]
    x: int = 1
    y: int = 1


def components(tree: Any, source: str) -> tuple[str, list[Component]]:
    """The version of an architecture and its components, outer to inner.

    Raises: InputError if it is of another form.
    """
    if not isinstance(tree, dict):
        raise InputError(source, "architecture", "must be an object with a version and nodes or a subtree")
    version = str(tree.get("version", "0.3"))
    found: list[Component] = []
    if "nodes" in tree:
        _nodes(tree["nodes"], _Place({}), found, source)
    elif "subtree" in tree or "local" in tree:
        _subtree(tree, 1, {}, found, source)
    else:
        raise InputError(source, "architecture", "has neither nodes nor a subtree; give version 0.3 or 0.4")
    if not found:
        raise InputError(source, "architecture", "has no components; add a memory and a compute unit")
    return version, found


def _objects(value: Any, field_name: str, source: str) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise InputError(source, field_name, "must list objects")
    return value


def _attributes(node: dict[str, Any], inherited: dict[str, Any], source: str) -> dict[str, Any]:
    name = node.get("name", "architecture")
    unknown = sorted(str(key)[:60] for key in node if key not in NODE_FIELDS)
    if unknown:
        raise InputError(source, f"{name}.{unknown[0]}", "cannot be represented; remove it")
    if node.get("enabled", True) not in (True, "True"):
        raise InputError(source, f"{name}.enabled", "is not True; remove the component")
    own = node.get("attributes") or {}
    if not isinstance(own, dict):
        raise InputError(source, f"{name}.attributes", "must be an object")
    spelled = {str(key).replace("-", "_"): value for key, value in own.items()}
    return {**inherited, **spelled}


def _nodes(value: Any, place: _Place, found: list[Component], source: str) -> None:
    for node in _objects(value, "architecture.nodes", source):
        kind = node.get(TAG, "Component")
        if kind == "Container":
            _mesh(node, place, found, source)
            place.attributes = _attributes(node, place.attributes, source)
        elif kind == "Component":
            _mesh(node, place, found, source)
            found.append(_component(node, place, source))
        elif kind == "Parallel":
            _parallel(node, place, found, source)
        elif kind in ("Hierarchical", "Pipelined"):
            inner = _Place(_attributes(node, place.attributes, source), place.x, place.y)
            _nodes(node.get("nodes"), inner, found, source)
        elif kind != "Nothing":
            raise InputError(source, f"architecture: !{kind}", "is no node of version 0.4 that is known here")


def _mesh(node: dict[str, Any], place: _Place, found: list[Component], source: str) -> None:
    """A mesh in front of a node is a level of its own that keeps nothing."""
    mesh = node.get("spatial") or {}
    name, _ = name_and_count(node.get("name"), source, "architecture: name")
    if not isinstance(mesh, dict) or set(mesh) - {
        "meshX",
        "meshY",
        "get_fanout",
        "get_fanout_X",
        "get_fanout_Y",
    }:
        raise InputError(source, f"{name}.spatial", "may hold meshX and meshY")
    x = whole(mesh.get("meshX", 1), source, f"{name}.spatial.meshX")
    y = whole(mesh.get("meshY", 1), source, f"{name}.spatial.meshY")
    if x * y > 1:
        given = node.get("constraints") or {}
        own = {"spatial": given["spatial"]} if isinstance(given, dict) and "spatial" in given else {}
        own |= dict(given) if node.get(TAG) == "Container" and isinstance(given, dict) else {}
        fan = Component(
            f"inter_{name}_spatial", FANOUT_CLASS, {}, place.x * place.y, place.x, own, container=name
        )
        found.append(fan)
        place.x, place.y = place.x * x, place.y * y


def _component(node: dict[str, Any], place: _Place, source: str) -> Component:
    name, count = name_and_count(node.get("name"), source, "architecture: name")
    if count > 1:
        place.x *= count
    sort = node.get("class") or node.get("subclass")
    if not isinstance(sort, str):
        raise InputError(source, f"{name}.class", "is missing; name the component's class")
    given = node.get("constraints") or {}
    if not isinstance(given, dict):
        raise InputError(source, f"{name}.constraints", "must be an object")
    own = {key: value for key, value in given.items() if key != "spatial" or not node.get("spatial")}
    attributes = _attributes(node, place.attributes, source)
    for key, here in (("instances", place.x * place.y), ("meshX", place.x), ("meshY", place.y)):
        told = (node.get("attributes") or {}).get(key)
        if told is not None and whole(told, source, f"{name}.{key}") != here:
            raise InputError(source, f"{name}.{key}", f"is {here} by spatial; say it there alone")
    return Component(name, sort, attributes, place.x * place.y, place.x, own)


def _parallel(node: dict[str, Any], place: _Place, found: list[Component], source: str) -> None:
    """Components side by side: each tensor goes through one of them."""
    own: list[Component] = []
    nothing: list[str] = []
    for one in _objects(node.get("nodes"), "architecture.nodes", source):
        if one.get(TAG) == "Nothing":
            nothing += _kept_by(one.get("constraints") or {})
            continue
        if one.get(TAG, "Component") != "Component" or one.get("spatial"):
            raise InputError(source, "architecture: !Parallel", "may hold components without a mesh alone")
        own.append(_component(one, place, source))
    for component in own:
        kept = _kept_by(component.constraints)
        others = [name for other in own if other is not component for name in _kept_by(other.constraints)]
        component.beside = [name for name in (*others, *nothing) if name not in kept]
    found += own


def _kept_by(constraints: Any) -> list[str]:
    space = constraints.get("dataspace") if isinstance(constraints, dict) else None
    kept = space.get("keep") if isinstance(space, dict) else None
    return [str(name) for name in kept] if isinstance(kept, list) else []


def _subtree(
    node: dict[str, Any], instances: int, inherited: dict[str, Any], found: list[Component], source: str
) -> None:
    """Versions before 0.4: ``local`` components, then the subtrees inside."""
    attributes = _attributes(node, inherited, source)
    for one in _objects(node.get("local"), "architecture: local", source):
        name, count = name_and_count(one.get("name"), source, "architecture: local.name")
        sort = one.get("class")
        if not isinstance(sort, str):
            raise InputError(source, f"{name}.class", "is missing; name the component's class")
        own = _attributes(one, attributes, source)
        found.append(Component(name, sort, own, *_counted(one, name, instances * count, source)))
    inner = _objects(node.get("subtree"), "architecture: subtree", source)
    if len(inner) > 1:
        raise InputError(source, "architecture: subtree", "branches into several; a hierarchy has one")
    for one in inner:
        _, count = name_and_count(one.get("name"), source, "architecture: subtree.name")
        _subtree(one, instances * count, attributes, found, source)


def _counted(node: dict[str, Any], name: str, instances: int, source: str) -> tuple[int, int | None]:
    """How many there are of a component in all and along X: its attributes go before the ranges in names, of which
    there are ``instances``."""
    own = {str(key).replace("-", "_"): value for key, value in (node.get("attributes") or {}).items()}
    given = {
        key: whole(own[key], source, f"{name}.{key}")
        for key in ("instances", "meshX", "meshY")
        if own.get(key) is not None
    }
    whole_count = given.get("instances", instances)
    across, down = given.get("meshX"), given.get("meshY")
    for key, mesh in (("meshX", across), ("meshY", down)):
        if mesh and whole_count % mesh:
            remedy = f"{mesh} divides no {whole_count} instances; give their number as instances"
            raise InputError(source, f"{name}.{key}", remedy)
    if across and down and across * down != whole_count:
        raise InputError(source, f"{name}.meshY", f"and meshX are no {whole_count} instances; leave one out")
    return whole_count, whole_count // down if down and not across else across
