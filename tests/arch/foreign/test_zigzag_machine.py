"""ZigZag's accelerators: what they become, what is listed, and what is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from mapper.arch.hierarchy import HierarchyMachine
from mapper.arch.source import load_machine
from mapper.workloads.document import InputError

MACHINE = """
name: small
memories:
  rf:
    size: 32
    r_cost: 0.25
    w_cost: 0.5
    area: 0
    latency: 1
    operands: [O]
    ports:
      - {name: r_port_1, type: read, bandwidth_min: 32, bandwidth_max: 32, allocation: ["O, tl"]}
      - {name: r_port_2, type: read, bandwidth_min: 32, bandwidth_max: 32, allocation: ["O, th"]}
      - {name: w_port_1, type: write, bandwidth_min: 32, bandwidth_max: 32, allocation: ["O, fh", "O, fl"]}
    served_dimensions: [D2]
  dram:
    size: 80000
    r_cost: 64
    w_cost: 128
    area: 0
    latency: 1
    operands: [I1, I2, O]
    ports:
      - {name: rw_port_1, type: read_write, bandwidth_min: 16, bandwidth_max: 64, allocation: ["I1, tl", "O, fl"]}
    served_dimensions: [D1, D2, D3]
operational_array:
  unit_energy: 0.04
  dimensions: [D1, D2, D3]
  sizes: [8, 4, 2]
"""


def read(text: str, folder: Path) -> HierarchyMachine:
    path = folder / "zigzag.yaml"
    path.write_text(text)
    machine, _ = load_machine(str(path))
    assert isinstance(machine, HierarchyMachine)
    return machine


def test_memories_are_levels_and_dimensions_that_one_does_not_serve_fan_out_above_it(tmp_path: Path) -> None:
    machine = read(MACHINE, tmp_path)
    assert [(level.name, level.keep, level.bypass) for level in machine.levels] == [
        ("dram", ["I", "W", "O"], []),
        ("rf", ["O"], ["I", "W"]),
    ]
    assert [(level.fanout.x, level.fanout.y) for level in machine.levels] == [(8, 2), (4, 1)]
    assert machine.units == 64


def test_costs_of_a_full_width_become_those_of_the_least_one(tmp_path: Path) -> None:
    dram, register = read(MACHINE, tmp_path).levels
    assert dram.actions is not None and register.actions is not None
    # A quarter of a port of 64 bits: two words of 8.
    assert (dram.block, dram.actions.read, dram.actions.fill) == (2, 16.0, 32.0)
    assert (dram.words, dram.bandwidth.shared) == (10000, 8.0)
    assert (register.words, register.word_bits, register.block, register.actions.read) == (1, 32, 1, 0.25)
    assert (register.bandwidth.read, register.bandwidth.write) == (2.0, 1.0)


def test_what_a_hierarchy_cannot_say_is_listed(tmp_path: Path) -> None:
    text = MACHINE.replace("latency: 1", "latency: 3", 1).replace(
        "unit_energy", "unit_area: 1\n  unit_energy"
    )
    over = read(text, tmp_path).passed_over
    assert [line.split(":")[0] for line in over] == [
        "memories.rf.ports",
        "memories.rf.latency",
        "operational_array.unit_area",
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[D1, D2, D3]\noper", "[D1]\noper", "memories.rf.served_dimensions: crosses that of dram"),
        ("unit_energy", "is_imc: True\n  unit_energy", "is_imc: computing in memory is no hierarchy"),
        (
            "r_cost: 64",
            "r_cost: 64\n    colour: red",
            "memories.dram.colour: cannot be represented; remove it",
        ),
        ("[I1, I2, O]", "[I3]", "memories.dram.operands: must be some of I1, I2, O"),
        ("size: 80000", "size: many", "memories.dram.size: 'many' is no number; write the number itself"),
        ("size: 80000", "size: 8\n    size: 9", "size: occurs twice in one object; keep one of them"),
        ("bandwidth_min: 16", "bandwidth_min: 12", "12 to 64 bits are no whole numbers of words of 8 bits"),
        ("sizes: [8, 4, 2]", "sizes: [8, 4]", "operational_array.sizes: must give each dimension one size"),
    ],
)
def test_what_cannot_be_represented_is_refused_in_a_line(
    old: str, new: str, said: str, tmp_path: Path
) -> None:
    assert old in MACHINE
    with pytest.raises(InputError) as refused:
        read(MACHINE.replace(old, new), tmp_path)
    assert said in str(refused.value) and "zigzag.yaml" in str(refused.value)
