"""Problem files of Timeloop that include a base."""

from __future__ import annotations

from pathlib import Path

import pytest

from mapper.workloads.document import InputError
from mapper.workloads.source import load_network

BASE = """\
problem_base_ignore: &problem_base
  version: 0.4
  instance: {C: 1, M: 1, P: 1, R: 1, Wstride: 1}
  shape:
    coefficients: [{name: Wstride, default: 1}]
    dimensions: [C, M, P, R]
    data_spaces:
    - {name: Weights, projection: [[[C]], [[M]], [[R]]]}
    - {name: Inputs, projection: [[[C]], [[R], [P, Wstride]]]}
    - {name: Outputs, projection: [[[M]], [[P]]], read_write: true}
"""
OWN = """\
{{include_text('../base.yaml')}}
problem:
  <<<: *problem_base
  instance: {C: 3, M: 64, P: 55, Wstride: 4}
"""


def written(folder: Path, own: str = OWN, base: str = BASE) -> str:
    (folder / "net").mkdir()
    (folder / "base.yaml").write_text(base)
    (folder / "net" / "0.yaml").write_text(own)
    return str(folder / "net" / "0.yaml")


def test_what_a_problem_says_goes_before_its_base_and_both_files_are_inputs(tmp_path: Path) -> None:
    path = written(tmp_path)
    network = load_network(path)
    nest = network.layers[0].nest
    assert nest.trip_counts == {"C": 3, "M": 64, "P": 55, "R": 1}
    assert dict(nest.operands[1].index[1].coefficients) == {"R": 1, "P": 4}
    assert [Path(one.path).name for one in network.inputs] == ["0.yaml", "base.yaml"]


@pytest.mark.parametrize(
    ("own", "base", "remedy"),
    [
        (OWN.replace("../base", "../none"), BASE, "none.yaml"),
        (OWN.replace("*problem_base", "*other"), BASE, "problem_base"),
        (OWN, BASE.replace("&problem_base", ""), "must name one object"),
        (OWN + "{{more}}\n", BASE, "jinja templates"),
        (OWN, BASE + "# {% if %}\n", "jinja templates"),
        (OWN.replace("Wstride: 4", "WStride: 4"), BASE, "WStride: is no name of the shape; write Wstride"),
        (OWN.replace("  instance", "  <<: *problem_base\n  instance"), BASE, "aliases"),
    ],
)
def test_what_does_not_hold_together_is_refused_in_a_line(
    tmp_path: Path, own: str, base: str, remedy: str
) -> None:
    with pytest.raises(InputError) as caught:
        load_network(written(tmp_path, own, base))
    assert remedy in str(caught.value)
    assert "\n" not in str(caught.value)
