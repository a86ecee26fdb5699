"""AccelForge's architectures: what they become, what is listed, and what is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from mapper.arch.hierarchy import HierarchyMachine
from mapper.arch.source import load_machine
from mapper.workloads.document import InputError

MACHINE = """
arch:
  nodes:
  - !Memory
    name: Main
    size: inf
    actions:
    - {name: read, energy: 7e-12, throughput: 8 * 4e9}
    - {name: write, energy: 7e-12, throughput: 8 * 2e9}
    tensors: {keep: ~Intermediates, may_keep: All}
  - !Memory
    name: Buffer
    size: 1024*8
    total_latency: max(a.n_calls / a.throughput for a in actions)
    leak_power: 2e-3
    area: 3e-6
    actions:
    - {name: read, energy: 8e-12, throughput: 4e9, bits_per_action: 16}
    - {name: write, energy: 16e-12, throughput: inf, bits_per_action: 16}
    tensors: {keep: ~Main, may_keep: input | output}
  - !Container
    name: Element
    spatial:
    - {name: a, fanout: 4, reuse: input, min_usage: 1}
    - {name: b, fanout: 2, reuse: output}
  - !Memory
    name: Register
    size: weight.bits_per_value if weight else 0
    actions:
    - {name: read, energy: 0}
    - {name: write, energy: 0}
    tensors: {keep: weight}
  - !Compute
    name: MAC
    actions:
    - {name: compute, energy: 0.5e-12, throughput: 1e9}
"""


def read(text: str, folder: Path) -> HierarchyMachine:
    path = folder / "accelforge.yaml"
    path.write_text(text)
    machine, _ = load_machine(str(path))
    assert isinstance(machine, HierarchyMachine)
    return machine


def test_nodes_are_levels_with_fan_outs_that_carry_what_they_reuse(tmp_path: Path) -> None:
    machine = read(MACHINE, tmp_path)
    assert [(level.name, level.words, level.keep, level.bypass) for level in machine.levels] == [
        ("Main", None, ["*"], []),
        ("Buffer", 1024, [], ["W"]),
        ("Register", 1, ["W"], ["I", "O"]),
    ]
    fanout = machine.levels[1].fanout
    assert (fanout.x, fanout.x_loops, fanout.y, fanout.y_loops) == (4, ["K"], 2, ["C", "R", "S"])


def test_joules_bits_and_seconds_become_picojoules_words_and_cycles(tmp_path: Path) -> None:
    main, buffer, _ = (machine := read(MACHINE, tmp_path)).levels
    assert (machine.clock_mhz, machine.compute.energy_pj) == (1000, 0.5)
    assert main.actions is not None and buffer.actions is not None
    assert (main.block, main.actions.read, main.bandwidth.shared) == (1, 56.0, 2.0)
    assert (buffer.block, buffer.actions.read, buffer.actions.fill) == (2, 8.0, 16.0)
    assert (buffer.bandwidth.read, buffer.bandwidth.write, buffer.bandwidth.shared) == (8.0, None, None)
    assert (buffer.actions.leak, buffer.area_mm2) == (2.0, 3.0)


def test_what_a_hierarchy_cannot_say_is_listed(tmp_path: Path) -> None:
    over = read(
        MACHINE.replace("energy: 7e-12, throughput: 8 * 4e9", "throughput: 8 * 4e9"), tmp_path
    ).passed_over
    assert [line.split(":")[0] for line in over] == [
        "Main.component_class",
        "Main.actions.throughput",
        "Buffer.spatial.a.min_usage",
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("arch:", "{% set x = 1 %}\narch:", "has jinja templates; write their values in their places"),
        ("!Container", "!Fork", "arch.nodes.Element: !Fork cannot be represented"),
        ("size: 1024*8", "size: big", "Buffer.size: 'big' is no number"),
        (
            "keep: weight}",
            "keep: bias}",
            "Register.tensors.keep: 'bias' is no set of input, weight and output",
        ),
        ("reuse: input", "reuse: All", "reuse: 'All' must be one of input, weight, output"),
        ("leak_power", "colour", "Buffer.colour: cannot be represented; remove it"),
        (
            "max(a.n_calls / a.throughput for a in actions)",
            "7",
            "Buffer.total_latency: cannot be represented",
        ),
    ],
)
def test_what_cannot_be_represented_is_refused_in_a_line(
    old: str, new: str, said: str, tmp_path: Path
) -> None:
    assert old in MACHINE
    with pytest.raises(InputError) as refused:
        read(MACHINE.replace(old, new, 1), tmp_path)
    assert said in str(refused.value) and "accelforge.yaml" in str(refused.value)
