"""A mapping onto a hierarchy on a report page: bands of levels, energies, and the roofline."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import pytest

import mapper
from mapper.api.solving import Search

LEVELS = ["DRAM", "shared_glb", "ifmap_spad", "weights_spad", "psum_spad"]


@pytest.fixture(scope="module")
def solution() -> mapper.Solution:
    return mapper.solve("lenet5/conv2", "eyeriss-like", search=Search("random"))


@pytest.fixture(scope="module")
def page(solution: mapper.Solution) -> ElementTree.Element:
    text = mapper.report(solution.to_json())
    return ElementTree.fromstring(
        f"<div>{text[text.index('<figure><ol') : text.index('<details><summary>value')]}</div>"
    )


def test_levels_are_bands_each_around_the_next_with_the_tensors_that_they_keep(
    page: ElementTree.Element, solution: mapper.Solution
) -> None:
    bands = page.findall(".//li[@data-band]")
    assert [band.get("data-band") for band in bands] == LEVELS
    for outer, inner in pairwise(bands):
        assert inner in outer.iter("li")
    mapping = solution.to_json()["parts"][0]["mapping"]
    for band, level in zip(bands, mapping["levels"], strict=True):
        chips = [(chip.text or "").split(":")[0] for chip in band[0].findall("span")]
        assert chips == level["keep"]
        loops = [one.get("data-loop") for one in band[1] if "loop" in (one.get("class") or "")]
        assert loops == [one[0] for one in [*level["temporal"], *level["spatial"]]]


def test_energies_stand_by_level_and_tensor(page: ElementTree.Element) -> None:
    (energies,) = page.findall(".//figure[@data-energy]")
    texts = {text.text for text in energies.iter("text")}
    assert {*LEVELS, "mac", "I", "W", "O"} <= texts


def test_the_roofline_has_a_point_of_every_level_at_the_operations_that_it_reaches(
    page: ElementTree.Element, solution: mapper.Solution
) -> None:
    roofs = page.findall(".//g[@data-roof]")
    assert [roof.get("data-roof") for roof in roofs] == LEVELS
    heights = {roof.findall("circle")[0].get("cy") for roof in roofs}
    assert len(heights) == 1
    # The global buffer moves fewer words for an operation than registers do, so its point lies further right.
    across = [float(roof.findall("circle")[0].get("cx") or 0) for roof in roofs]
    assert across[1] > across[3]
    assert [len(roof.findall("line")) for roof in roofs] == [0, 1, 1, 1, 1]


def test_levels_that_run_at_the_same_time_stand_side_by_side_and_one_of_them_binds(
    solution: mapper.Solution,
) -> None:
    text = mapper.report(solution.to_json())
    begin = text.index('<figure data-breakdown="cycles"')
    drawn = ElementTree.fromstring(f"<div>{text[begin : text.index('</details>', begin)]}</details></div>")
    chart = drawn.find(".//svg") or drawn.find(".//{http://www.w3.org/2000/svg}svg")
    assert chart is not None
    texts = [one.text for one in chart.iter() if one.tag.endswith("text")]
    assert {*LEVELS, "mac"} <= set(texts) and texts.count("binds") == 1
    cycles = solution.to_json()["parts"][0]["breakdown"]["cycles"]
    assert chart.get("aria-label") == "cycles of what runs at the same time"
    assert max(cycles.values()) < sum(cycles.values())
    row = [cell.text for cell in drawn.iter() if cell.tag.endswith("td")]
    assert row[-1] == solution.to_json()["parts"][0]["breakdown"]["binds"]
