"""A lower floor never imports a higher one."""

from __future__ import annotations

import ast
from pathlib import Path

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
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
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


def test_code_generation_and_simulation_do_not_know_each_other() -> None:
    for own, other in (("codegen", "sim"), ("sim", "codegen")):
        for path in (ROOT / own).rglob("*.py"):
            assert not [name for name in imported(path) if name.split(".")[1] == other]


def test_the_referee_shares_no_code_with_formulation_or_search() -> None:
    names = imported(ROOT / "formulations" / "tiling" / "referee" / "verify.py")
    modules = {name.rsplit(".", 1)[0] for name in names}
    assert not [module for module in modules if ".solver" in module or ".program" in module]
    assert (
        not {"mapper.models.tiling.tile", "mapper.models.tiling.transfer", "mapper.models.tiling.order"}
        & modules
    )


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
    for path in modules():
        own = str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                call = f"{node.value.id}.{node.attr}"
                found.add(call)
                assert own in PLACES.get(call, (own,)), f"{own} calls {call}"
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "tempfile.TemporaryDirectory":
                assert [word for word in node.keywords if word.arg == "dir"], (
                    f"{own} makes a temporary folder of its own; take temporary_folder"
                )
    assert {"subprocess.Popen", "signal.signal", "cp_model.CpSolver"} <= found
