"""A lower floor never imports a higher one."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = {
    "workloads": 0,
    "arch": 0,
    "models": 1,
    "formulations": 2,
    "solver": 3,
    "codegen": 4,
    "sim": 4,
}
TOP = 5


def modules() -> list[Path]:
    houses = [ROOT / floor for floor in FLOORS] + [ROOT / "src" / "mapper"]
    found = [path for house in houses for path in sorted(house.rglob("*.py"))]
    return [path for path in found if not any(part.is_symlink() for part in path.parents)]


def floor_of(name: str) -> int:
    return FLOORS.get(name, TOP)


def imported(path: Path) -> list[str]:
    """What a module imports, wherever in it."""
    return [*_imports(path).running, *_imports(path).for_types]


class _Imports(NamedTuple):
    """What a module imports when it runs, and what stands in it for types alone."""

    running: list[str]
    for_types: list[str]


@cache
def _imports(path: Path) -> _Imports:
    tree = ast.parse(path.read_text())
    typed = [one for one in tree.body if isinstance(one, ast.If) and ast.unparse(one.test) == "TYPE_CHECKING"]
    tree.body = [one for one in tree.body if one not in typed]
    return _Imports(_names(path, [tree]), _names(path, typed))


def _names(path: Path, trees: Iterable[ast.AST]) -> list[str]:
    names = []
    for node in chain.from_iterable(map(ast.walk, trees)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return [name for name in names if name.split(".")[0] == "mapper"]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_its_own_floor_and_those_below(path: Path) -> None:
    own = path.relative_to(ROOT).parts[0]
    for name in imported(path):
        assert floor_of(name.split(".")[1]) <= floor_of(own), f"{path.name} imports {name}"


def _circle(needs: dict[str, set[str]]) -> set[str]:
    """Modules that need each other in a circle, and those on the way between two circles."""
    left = set(needs)
    while True:
        needed = {one for name in left for one in needs[name]}
        ends = {name for name in left if name not in needed or not needs[name] & left}
        if not ends:
            return left
        left -= ends


@cache
def _module_of(name: str) -> str:
    """The module that is imported for a name: itself, or the one that defines it."""
    return name if _path_of(name) is not None else name.rpartition(".")[0]


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Wherever the imports stand: one within a function hides a circle, and does not break it."""
    needs: dict[str, set[str]] = {}
    for path in modules():
        parts = path.relative_to(ROOT / "src" if "src" in path.parts else ROOT).with_suffix("").parts
        name = ".".join(part for part in ("mapper", *parts[parts[0] == "mapper" :]) if part != "__init__")
        needs[name] = {_module_of(one) for one in _imports(path).running} - {name}
    needs = {name: found & set(needs) for name, found in needs.items()}
    assert not _circle(needs), sorted(_circle(needs))


def test_circles_are_noticed() -> None:
    assert _circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}, "e": set()}) == {"b", "c"}


def test_code_generation_and_simulation_do_not_know_each_other() -> None:
    for own, other in (("codegen", "sim"), ("sim", "codegen")):
        for path in (ROOT / own).rglob("*.py"):
            assert not [name for name in imported(path) if name.split(".")[1] == other]


def _path_of(name: str) -> Path | None:
    """The file of a module, None if the name is no module of the project."""
    inside = ROOT.joinpath(*name.split(".")[1:])
    outside = ROOT / "src" / Path(*name.split("."))
    for base in (inside, outside):
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if path.is_file():
                return path
    return None


def _needed(start: Iterable[str]) -> dict[str, str]:
    """Every module that these import, or that what they import imports, and by which."""
    found: dict[str, str] = {}
    waiting = [(name, "") for name in start]
    while waiting:
        name, by = waiting.pop()
        while name and _path_of(name) is None:
            name = name.rpartition(".")[0]
        if not name or name in found:
            continue
        found[name] = by
        path = _path_of(name)
        assert path is not None
        waiting += [(one, name) for one in imported(path)]
    return found


REFEREES = sorted((ROOT / "formulations").rglob("referee"))
VALUES = {"verdict", "problem", "tiled_problem", "objective"}
"""What a referee takes from the formulations' floor besides other referees: values, which decide nothing."""


@pytest.mark.parametrize("room", REFEREES, ids=lambda room: str(room.relative_to(ROOT / "formulations")))
def test_a_referee_shares_no_code_with_formulation_bound_or_search(room: Path) -> None:
    prefix = "mapper." + ".".join(room.relative_to(ROOT).parts)
    for name, by in _needed(f"{prefix}.{path.stem}" for path in room.glob("*.py")).items():
        floor, _, rest = name.removeprefix("mapper.").partition(".")
        assert floor in ("workloads", "arch", "models", "formulations"), f"{by} imports {name}"
        if floor == "formulations" and ".referee" not in name and name != "mapper.formulations":
            package = (ROOT / "formulations" / rest.replace(".", "/")).is_dir()
            assert package or rest.rpartition(".")[2] in VALUES, f"{by} imports {name}"


def test_every_kind_has_a_referee() -> None:
    kinds = {path.parent.relative_to(ROOT / "formulations").parts[0] for path in REFEREES}
    assert kinds == {
        "tiling",
        "modulo_schedule",
        "pe_allocation",
        "algorithm_selection",
        "pbqp",
        "trace_partition",
        "hierarchy",
    }


def test_nobody_but_a_judge_looks_into_a_referees_room() -> None:
    """Programs, bounds and reasons of infeasibility count by themselves, so that a referee can contradict them."""
    for path in modules():
        if "referee" in path.parts:
            continue
        own = path.relative_to(ROOT)
        for name in imported(path):
            if ".referee" in name and own.parts[0] in ("models", "formulations"):
                raise AssertionError(f"{own} imports {name}")
            if ".referee." in name and own.parts[0] == "solver":
                assert ".referee.verify" in name, f"{own} imports {name}"


def test_the_referee_of_tiling_counts_capacities_by_itself() -> None:
    names = imported(ROOT / "formulations" / "tiling" / "referee" / "verify.py")
    imports = {name.rsplit(".", 1)[0] for name in names}
    assert not imports & {f"mapper.models.tiling.{name}" for name in ("tile", "transfer", "order")}


CHILDREN = ("workloads/process/child_process.py",)
FOLDERS = ("workloads/process/temporary.py",)
PLACES = {
    "subprocess.run": CHILDREN,
    # A process that compiles ends by itself when its pipe does.
    "subprocess.Popen": (*CHILDREN, "models/compiling.py"),
    "subprocess.call": CHILDREN,
    "subprocess.check_call": CHILDREN,
    "subprocess.check_output": CHILDREN,
    "os.system": CHILDREN,
    "os.popen": CHILDREN,
    "tempfile.mkdtemp": FOLDERS,
    "tempfile.mkstemp": FOLDERS,
    "tempfile.NamedTemporaryFile": FOLDERS,
    "signal.signal": (
        "src/mapper/cli/interruption.py",
        # An alarm of its own, given back; and children that leave Ctrl-C to their parent.
        "src/mapper/api/time_limit.py",
        "src/mapper/sweeping/private_cluster.py",
        "models/compiling.py",
    ),
    "cp_model.CpSolver": ("solver/cp_sat.py",),
}
"""What is done in named places alone, so that no child, folder or handler outlives the program or takes its signals."""


def test_what_a_signal_must_find_again_is_started_in_its_place() -> None:
    found = set()
    names = {call.partition(".")[2] for call in PLACES} | {"TemporaryDirectory"}
    for path in modules():
        own, text = str(path.relative_to(ROOT)), path.read_text()
        # Most modules have none of the names: they are not read as Python.
        for node in ast.walk(ast.parse(text)) if any(name in text for name in names) else ():
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                call = f"{node.value.id}.{node.attr}"
                found.add(call)
                assert own in PLACES.get(call, (own,)), f"{own} calls {call}"
            if isinstance(node, ast.Call) and _is_named(node.func, "TemporaryDirectory"):
                assert [word for word in node.keywords if word.arg == "dir"], (
                    f"{own} makes a temporary folder of its own; take temporary_folder"
                )
    assert {"subprocess.Popen", "signal.signal", "cp_model.CpSolver"} <= found


def _is_named(function: ast.expr, name: str) -> bool:
    """Whether what is called has that name, of whatever module."""
    return getattr(function, "attr", getattr(function, "id", None)) == name


KINDS = {path.relative_to(ROOT / "formulations").parts[0] for path in REFEREES}
DOORS = {
    "models": ("mapping.py", "mapping_file.py", "cost.py", "bound.py"),
    "formulations": ("problem.py", "infeasible.py", "bound.py", "program/", "referee/verify.py"),
    "solver": ("catalogue.py", "exact/", "heuristic/"),
    "src/mapper/kind": ("kind.py", "pins.py", "view.py", "words.py", "picture.py", "methods.json"),
}
"""What a column has on these floors, or says in its package's docstring why it has not."""


@pytest.mark.parametrize("floor", DOORS)
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_column_has_every_door_or_says_why_not(floor: str, kind: str) -> None:
    room = ROOT / floor / kind
    said = " ".join((ast.get_docstring(ast.parse((room / "__init__.py").read_text())) or "").split())
    for door in DOORS[floor]:
        excused = f"no {door}" in said
        assert (room / door).exists() != excused, f"{room.relative_to(ROOT)} and its door {door}"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_doors_lead_to_the_same_in_every_column(kind: str) -> None:
    """A referee is ``verify``, reasons are ``why_infeasible``, methods ``METHODS``; programs have one of two bases."""
    column = {
        "referee/verify.py": ("formulations", "verify"),
        "infeasible.py": ("formulations", "why_infeasible"),
        "catalogue.py": ("solver", "METHODS"),
    }
    for door, (floor, name) in column.items():
        path = ROOT / floor / kind / door
        if path.exists():
            assert name in _defined(path), f"{path.relative_to(ROOT)} has no {name}"
    for path in sorted((ROOT / "formulations" / kind).rglob("program/**/*.py")):
        bases = {"cp_sat.py": "CpSatFormulation", "ilp.py": "PulpFormulation"}
        if path.name in bases:
            assert _formulations(path) == bases[path.name], path.relative_to(ROOT)


def _defined(path: Path) -> set[str]:
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        for target in node.targets if isinstance(node, ast.Assign) else ():
            names.add(ast.unparse(target))
        if isinstance(node, ast.AnnAssign):
            names.add(ast.unparse(node.target))
    return names


def _formulations(path: Path) -> str:
    """The base of the formulations of a file, whatever lies between."""
    module = import_module("mapper." + ".".join(path.relative_to(ROOT).with_suffix("").parts))
    found = set()
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == module.__name__ and hasattr(value, "parts"):
            found |= {base.__name__ for base in value.__mro__ if base.__module__.endswith("_formulation")}
    assert len(found) == 1, f"{path}: {found}"
    return found.pop()
