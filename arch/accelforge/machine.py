"""A machine of this project from an AccelForge architecture: nodes outer to inner, with fan-outs in front of some.

AccelForge counts in bits, joules, seconds and square metres; words have 8 bits, as workloads say how wide values are.
A second is cut into cycles by the throughput of the compute units. What cannot be said of a hierarchy is listed.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from mapper.arch.accelforge.node import Second, compute_fields, memory_fields
from mapper.arch.accelforge.tensor import Kept, carried
from mapper.arch.hierarchy import HIERARCHY_SCHEMA, HierarchyMachine, hierarchy_from_document
from mapper.arch.timeloop.value import whole
from mapper.workloads.document import InputError
from mapper.workloads.text.structured_text import TAG, LongNumberError, RepeatedKeyError, load_yaml

SPATIAL_FIELDS = {"name", "fanout", "reuse", "may_reuse", "min_usage"}
_ROOT = re.compile(r"^arch[ \t]*:", re.MULTILINE)


def is_accelforge_machine(text: str) -> bool:
    """Whether a text is an AccelForge architecture, by its root."""
    return _ROOT.search(text) is not None


def accelforge_machine(text: str, source: str) -> HierarchyMachine:
    """The hierarchy that an architecture is.

    Raises: InputError naming what is wrong or is no hierarchy.
    """
    over: list[str] = []
    nodes = _nodes(_parsed(text, source), source, over)
    memories, unit = _sorted(nodes, source, over)
    second = Second.of(unit, source, over)
    kept = Kept()
    levels: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    for node in [*memories, unit]:
        waiting += _spatial(node, source)
        if node[TAG] == "Container":
            continue
        if waiting and not levels:
            raise InputError(source, f"{_name(node)}.spatial", "has no memory outside; put one in front")
        _fan_out(levels, waiting, source, over)
        waiting = []
        if node is not unit:
            own = memory_fields(node, second, source, over)
            levels.append({"name": _name(node), **own, **kept.of(node, source)})
    if not levels:
        raise InputError(source, "arch.nodes", "have no memory; add one")
    return hierarchy_from_document(
        {
            "schema": HIERARCHY_SCHEMA,
            "name": source.rpartition("/")[2][:64],
            "description": "From an AccelForge architecture; words have 8 bits.",
            "clock_mhz": second.clock_mhz,
            "levels": levels,
            "compute": compute_fields(unit, second, source, over),
            "rules": {"link_transfers": False},
            "passed_over": [line[:300] for line in over][:64],
        },
        source,
    )


def _parsed(text: str, source: str) -> dict[str, Any]:
    if re.search(r"{{|{%", text):
        raise InputError(source, "", "has jinja templates; write their values in their places")
    try:
        fields = load_yaml(text, tagged=True)
    except RepeatedKeyError as error:
        raise InputError(source, error.key[:60], "occurs twice in one object; keep one of them") from None
    except (yaml.YAMLError, LongNumberError, ValueError, RecursionError) as error:
        raise InputError(source, "", f"is no YAML document: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(fields, dict) or not isinstance(fields.get("arch"), dict):
        raise InputError(source, "arch", "must be an object with nodes")
    return fields


def _nodes(fields: dict[str, Any], source: str, over: list[str]) -> list[dict[str, Any]]:
    for key in sorted(map(str, set(fields) - {"arch"})):
        over.append(f"{key[:60]}: is no part of a machine")
    for key in sorted(map(str, set(fields["arch"]) - {"nodes"})):
        over.append(f"arch.{key[:60]}: is for component models, which are not asked")
    nodes = fields["arch"].get("nodes")
    if nodes is None and "storage" in fields["arch"]:
        remedy = "is Timeloop's of a version before 0.2; write architecture: of version 0.2 to 0.4"
        raise InputError(source, "arch", remedy)
    if not isinstance(nodes, list) or not all(isinstance(node, dict) for node in nodes):
        raise InputError(source, "arch.nodes", "must list nodes such as !Memory")
    return nodes


def _name(node: dict[str, Any]) -> str:
    return str(node.get("name", ""))[:64]


def _sorted(
    nodes: list[dict[str, Any]], source: str, over: list[str]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Memories and containers outer to inner, and the innermost compute unit."""
    for node in nodes:
        if node.get(TAG) not in ("Memory", "Container", "Compute"):
            sort = str(node.get(TAG))[:30]
            raise InputError(
                source,
                f"arch.nodes.{_name(node)}",
                f"!{sort} cannot be represented; leave it out of the file",
            )
    if not nodes or nodes[-1][TAG] != "Compute":
        raise InputError(source, "arch.nodes", "must end with a !Compute")
    for node in nodes[:-1]:
        if node[TAG] == "Compute":
            over.append(f"arch.nodes.{_name(node)}: one compute unit ends the hierarchy, others are left out")
    return [node for node in nodes[:-1] if node[TAG] != "Compute"], nodes[-1]


def _spatial(node: dict[str, Any], source: str) -> list[dict[str, Any]]:
    given = node.get("spatial") or []
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise InputError(source, f"{_name(node)}.spatial", "must list fan-outs")
    return given


def _fan_out(levels: list[dict[str, Any]], fans: list[dict[str, Any]], source: str, over: list[str]) -> None:
    """Put fan-outs below the innermost level so far: two are the axes of one, others make levels that keep nothing."""
    for place, fan in enumerate(fans):
        name = f"{levels[-1]['name']}.spatial.{str(fan.get('name', place))[:40]}"
        unknown = sorted(map(str, set(fan) - SPATIAL_FIELDS))
        if unknown:
            raise InputError(source, f"{name}.{unknown[0][:40]}", "cannot be represented; remove it")
        axis = "xy"[place % 2]
        alone = str(fan.get("may_reuse", "All")) == "Nothing"
        if alone or (place and place % 2 == 0):
            # Sharing is a matter of the whole fan-out, so one without it stands by itself.
            if levels[-1].get("fanout"):
                nothing = {"read": 0, "fill": 0, "update": 0}
                title = f"{fan.get('name', place)}_of_{levels[0]['name']}"[:60] + f"_{len(levels)}"
                levels.append({"name": title, "bypass": ["*"], "energy_pj": nothing})
            axis = "x"
        elif "may_reuse" in fan and str(fan["may_reuse"]) != "All":
            raise InputError(source, f"{name}.may_reuse", "must be All or Nothing to be represented")
        own = levels[-1].setdefault("fanout", {})
        own[axis] = whole(fan.get("fanout"), source, f"{name}.fanout")
        if alone:
            own |= {"multicast": False, "reduction": False}
        if fan.get("reuse") is not None:
            own[f"{axis}_loops"] = carried(str(fan["reuse"]), source, f"{name}.reuse")
        if fan.get("min_usage"):
            over.append(f"{name}.min_usage: fewer instances may be used")
