"""Report pages in a real browser: they load without an error, show what the solution has, and obey the keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

import mapper
from mapper.api.side_by_side import side_by_side
from mapper.api.solution import Solution
from mapper.kind.part import Options
from mapper.kind.trace_partition.picture import _stretches
from mapper.reporting.colour import CAUSES, FURTHER, OPERANDS, colours
from mapper.reporting.cost_section import UNITS
from mapper.reporting.sweep_chart import _stair

Opened = Callable[..., Page]


def test_a_tiling_shows_its_loops_by_level_and_how_far_the_machine_is_used(
    opened: Opened, tiled: Solution
) -> None:
    page = opened(tiled)
    mapping = tiled.to_json()["parts"][0]["mapping"]
    shown = [(one.get_attribute("data-loop"), one.get_attribute("data-level"), one.inner_text())
             for one in page.locator(".nest .loop").all()]  # fmt: skip
    factors = {
        (loop, level): count
        for loop, own in mapping["tiling"].items()
        for level, count in own.items()
        if count > 1
    }
    assert {(loop, level) for loop, level, _ in shown} == set(factors)
    assert all(f"for {loop} = 0..{factors[loop, level] - 1}" in text for loop, level, text in shown)
    dram = [loop for loop, level, _ in shown if level == "dram"]
    assert dram == [loop for loop in mapping["order"]["dram"] if (loop, "dram") in factors]
    assert page.locator("[data-use='PEs']").text_content() == "PEs224 of 256 (87.5%)"


def test_the_certificate_stands_in_words(opened: Opened, tiled: Solution) -> None:
    said = opened(tiled).locator(".certificate").first.inner_text()
    assert "Proven by solver: no mapping of this space is better, because branch and bound" in said


def test_costs_are_split_in_charts_whose_figures_are_text(opened: Opened, tiled: Solution) -> None:
    page = opened(tiled)
    drawn = page.locator("[data-breakdown=energy_pj] svg")
    assert {"mac", "rf", "noc", "spm", "dram"} <= set(drawn.locator("text").all_text_contents())
    assert page.locator("img, canvas, image").count() == 0


def test_a_schedule_shows_every_operation_in_its_cell(opened: Opened, scheduled: Solution) -> None:
    page = opened(scheduled)
    schedule = scheduled.to_json()["parts"][0]["mapping"]["schedule"]
    labels = [one.get_attribute("aria-label") or "" for one in page.locator(".op").all()]
    assert len(labels) == len(schedule)
    for name, placed in schedule.items():
        row, column = placed["pe"]
        assert any(
            label.startswith(f"{name}: ") and f"PE {row},{column} in cycle {placed['time']};" in label
            for label in labels
        )


def test_the_binding_recurrence_is_marked(opened: Opened, scheduled: Solution) -> None:
    marked = opened(scheduled).locator(".op.binding")
    assert [one.get_attribute("aria-label").split(":")[0] for one in marked.all()] == ["sum"]  # type: ignore[union-attr]


def test_an_operation_in_focus_shows_the_ways_of_its_operands(opened: Opened, scheduled: Solution) -> None:
    page = opened(scheduled)
    routes = scheduled.to_json()["parts"][0]["mapping"]["routes"]
    assert page.locator(".route:visible").count() == 0
    page.locator(".op[aria-label^='fmul:']").focus()
    page.wait_for_selector(".route.shown")
    shown = page.locator(".route.shown title").all_text_contents()
    assert sorted(shown) == sorted(f"{one['from']} to {one['to']}" for one in routes if one["to"] == "fmul")
    assert "operands: load_a by" in page.locator(".told").inner_text()
    page.locator(".op[aria-label^='store_c:']").hover()
    assert page.locator(".route.shown title").all_text_contents() == ["sum to store_c"]


def test_operations_are_reached_by_the_tab_key(opened: Opened, scheduled: Solution) -> None:
    page = opened(scheduled)
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('op')"):
            break
    assert page.locator(".op:focus").count() == 1


def test_an_allocation_shows_its_grid_and_when_layers_work(opened: Opened) -> None:
    solution = mapper.solve("mnist-tcpa", "tcpa-4x4")
    page = opened(solution)
    placed = solution.to_json()["parts"][0]["mapping"]["placement"]
    cells = page.locator(".grid rect title").all_text_contents()
    assert sorted(cells) == sorted(f"[{r},{c}] {name}" for name, pes in placed.items() for r, c in pes)
    bars = page.locator(".gantt rect title").all_text_contents()
    assert [bar.split(":")[0] for bar in bars if "frame 0" in bar] == [f"{name}, frame 0" for name in placed]


def test_a_selection_shows_the_network_coloured_by_algorithm(opened: Opened, selected: Solution) -> None:
    page = opened(selected)
    choice = selected.to_json()["parts"][0]["mapping"]["choice"]
    boxes = {
        one.locator("title").text_content(): one.locator("rect").get_attribute("fill")
        for one in page.locator(".vertex").all()
    }
    names = {
        f"{layer}: {one['algorithm']} {one['dataflow']}": one["algorithm"] for layer, one in choice.items()
    }
    assert set(names) <= set(boxes)
    colours = {(names[title], colour) for title, colour in boxes.items() if title in names}
    assert len(colours) == len({algorithm for algorithm, _ in colours}) > 1


def test_a_reduction_is_stepped_through_to_its_end(opened: Opened, selected: Solution) -> None:
    page = opened(selected)
    vertices = page.locator(".vertex").count()
    steps = int(page.locator(".stepper").get_attribute("data-steps") or 0)
    assert steps == vertices
    assert page.locator(".vertex.gone").count() == 0
    page.get_by_role("button", name="next step").click()
    assert page.locator(".vertex.gone").count() == 1
    assert page.locator("output").inner_text().startswith(f"step 1 of {steps}: conv")
    page.keyboard.press("ArrowRight")
    assert page.locator(".vertex.gone").count() == 2
    page.get_by_role("button", name="previous step").click()
    assert page.locator(".vertex.gone").count() == 1
    page.get_by_role("button", name="end").click()
    assert page.locator(".vertex.gone").count() == vertices
    assert page.locator("li[aria-current=step]").count() == 1
    page.get_by_role("button", name="start").click()
    assert page.locator(".vertex.gone, .made.shown").count() == 0


def test_an_instance_without_a_machine_is_drawn_and_reduced(opened: Opened, tmp_path: Path) -> None:
    path = tmp_path / "cycle.in"
    edges = "".join(f"{u} {v}\n2 2\n0 3\n2 0\n" for u, v in ((0, 1), (1, 2), (0, 2)))
    path.write_text("3 3\n2 0 5\n2 2 1\n2 4 0\n" + edges)
    page = opened(mapper.solve(str(path)))
    assert page.locator(".vertex").count() == 3
    page.get_by_role("button", name="next step").click()
    assert page.locator(".edge.made.shown").count() == 1


@pytest.fixture(scope="module")
def partitioned() -> Solution:
    return mapper.solve("lenet5", "snowflake-1cc")


def test_a_partition_shows_when_every_layer_loads_computes_and_stores(
    opened: Opened, partitioned: Solution
) -> None:
    page = opened(partitioned)
    parts = partitioned.to_json()["parts"]
    drawn = [one.get_attribute("data-layer") for one in page.locator(".timelines figure").all()]
    assert drawn == [part["name"] for part in parts]
    for lane, step in (("load", "load"), ("compute", "compute"), ("store", "store")):
        bars = page.locator(f"[data-layer=conv1] [data-lane={lane}]")
        assert bars.locator("path").get_attribute("d")
        assert any(one["step"] == step for one in parts[0]["mapping"]["steps"])


def test_methods_of_one_problem_are_set_against_each_other(opened: Opened, tiled: Solution) -> None:
    found = mapper.compare(
        "resnet-dmazerunner/conv5_2", methods=["branch-and-bound", "opt1+opt2+opt3", "soc"]
    )
    page = opened(tiled, found.to_json())
    rows = page.locator(".methods tbody tr").all_inner_texts()
    assert len(rows) == 3
    assert any("soc" in row and "6184.01%" in row and "bounded" in row for row in rows)
    assert "The optimum is known" in page.locator("#m0 .certificate").inner_text()


def test_a_sweep_is_a_curve_and_a_table(opened: Opened) -> None:
    swept = mapper.sweep("resnet-dmazerunner/conv5_2", None, {"rf.bytes": [256, 512]}, options=None)
    page = opened(swept.to_json())
    assert page.locator("table.sweep tbody tr").count() == 2
    assert page.locator("svg.chart").count() == 1


def test_a_sweep_of_two_fields_is_a_heat_map_that_says_what_was_swept(opened: Opened) -> None:
    grid = {"rf.bytes": [256, 512], "spm.bytes": [65536, 131072]}
    document = mapper.sweep("resnet-dmazerunner/conv5_2", None, grid).to_json()
    assert document["problem"]["workload"] == "resnet-dmazerunner/conv5_2"
    page = opened(document)
    assert page.locator("h2").inner_text() == "Sweep: resnet-dmazerunner/conv5_2 on dmazerunner-256"
    drawn = page.locator("svg.chart").text_content() or ""
    for said in (
        "resnet-dmazerunner/conv5_2",
        "rf.bytes",
        "spm.bytes",
        "131072",
        "edp, pJ cycles",
        "6.84e+15",
    ):
        assert said in drawn
    first = page.locator(".results div").first.inner_text().split("\n")
    assert first == ["best edp", "6.120109e+15 pJ cycles"]
    assert "rf.bytes=256, spm.bytes=65536" in page.locator(".results").inner_text()
    del document["problem"]
    assert "Sweep of dmazerunner-256" in mapper.report(document)


def test_a_result_comes_first_and_where_it_comes_from_last(opened: Opened, tiled: Solution) -> None:
    page = opened(tiled)
    order = page.locator("section.document > *").evaluate_all("found => found.map(one => one.className)")
    assert order[1:3] == ["results", "certificate good"] and order[-1] == "provenance"
    first = page.locator(".results div").first.inner_text()
    assert first.split("\n") == ["edp", "6.844957e+15 pJ·cycles"]
    assert "sha256" in (page.locator(".provenance").text_content() or "")


def test_the_whole_array_is_shown_with_its_idle_tiles_and_the_graph(
    opened: Opened, scheduled: Solution
) -> None:
    mapping = scheduled.to_json()["parts"][0]["mapping"]
    used = {tuple(one["pe"]) for one in mapping["schedule"].values()}
    page = opened(scheduled)
    assert page.locator(".tile").count() == 16 and page.locator(".tile.idle").count() == 16 - len(used)
    assert page.locator(".dataflow .operation").count() == len(mapping["schedule"])
    between = {
        (tuple(mapping["schedule"][route["from"]]["pe"]), tuple(mapping["schedule"][route["to"]]["pe"]))
        for route in mapping["routes"]
        if not any(hop["via"] == "move" for hop in route["hops"])
    }
    assert page.locator(".array .link").count() >= len({pair for pair in between if pair[0] != pair[1]}) > 0


def test_a_cause_has_one_colour_whatever_stands_beside_it() -> None:
    alone, among = colours(["dram"]), colours(["rf", "dram", "strange", "stranger"])
    assert alone["dram"] == among["dram"] and len(set(among.values())) == 4
    assert colours(["W"])["W"] == colours(["weights"])["weights"]


def test_names_that_no_cause_has_get_the_same_colours_in_every_order_and_none_of_a_cause() -> None:
    levels = ["DRAM", "scratchpad", "accumulator", "register", "MAC"]
    found = colours(levels)
    assert found == colours(reversed(levels)) and len(set(found.values())) == 5
    assert (found["DRAM"], found["MAC"]) == (colours(["dram"])["dram"], colours(["mac"])["mac"])
    assert not set(FURTHER) & {*CAUSES.values(), *OPERANDS.values()}


def test_every_cause_that_a_machine_splits_costs_into_has_a_colour_of_its_own(
    tiled: Solution, scheduled: Solution
) -> None:
    solutions = [tiled, scheduled, mapper.solve("mnist-tcpa", "tcpa-4x4")]
    for solution in (one.to_json() for one in solutions):
        split = [solution["parts"][0]["breakdown"].get(key) or {} for key in UNITS]
        assert {cause for causes in split for cause in causes} <= {*CAUSES, *OPERANDS}


def test_an_operand_has_the_colour_of_its_charts_where_it_stays(opened: Opened, tiled: Solution) -> None:
    drawn = opened(tiled).locator(".nest .stays")
    shown = {(one.inner_text()[0], one.get_attribute("style")) for one in drawn.all()}
    assert shown == {(name, f"border-color: {colours([name])[name]}") for name in "IWO"}


def test_an_axis_says_what_it_counts_in_a_unit_of_its_size(opened: Opened, tiled: Solution) -> None:
    page = opened(tiled)
    energy = page.locator("[data-breakdown=energy_pj]")
    texts = energy.locator("svg text").all_text_contents()
    assert "energy, mJ" in texts and not any("e+" in text for text in texts)
    assert energy.locator("figcaption").inner_text().startswith("rf 63.8%, dram 27.2%")


def test_no_quantity_of_a_partition_is_drawn_twice(opened: Opened, partitioned: Solution) -> None:
    page = opened(partitioned)
    said = page.locator("svg.chart").evaluate_all("found => found.map(one => one.getAttribute('aria-label'))")
    assert len(said) == len(set(said)) and sum("cycles by cause" in one for one in said) == 1


def test_a_page_is_no_wider_than_a_telephone(opened: Opened, scheduled: Solution) -> None:
    page = opened(scheduled)
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    cut = "found => found.filter(one => one.scrollWidth > one.clientWidth + 1).length"
    assert page.locator(".wide:has(> svg), .wide:has(> .costs)").evaluate_all(cut) == 0
    widths = page.locator(".results div").evaluate_all("all => all.map(one => one.clientWidth)")
    assert widths[0] == max(widths)


def test_pictures_and_their_captions_stand_on_paper(opened: Opened, scheduled: Solution) -> None:
    page = opened(scheduled)
    page.set_viewport_size({"width": 718, "height": 1000})
    page.emulate_media(media="print")
    pictures = page.locator("figure svg").evaluate_all("all => all.map(one => one.clientWidth)")
    assert min(pictures) > 150 and max(pictures) <= 718
    assert min(page.locator("figcaption").evaluate_all("all => all.map(one => one.clientWidth)")) > 150
    ends = page.locator("table").evaluate_all("all => all.map(one => one.getBoundingClientRect().right)")
    assert max(ends) <= 718


def test_a_stretch_of_work_is_as_dark_as_it_is_busy() -> None:
    spans = [(10 * at, 10 * at + 2) for at in range(1000)]
    paths = _stretches(spans, 10_000, "compute", 0)
    assert [path.get("fill-opacity") for path in paths] == ["0.25"]
    assert [path.get("fill-opacity") for path in _stretches([(0, 10_000)], 10_000, "compute", 0)] == ["1"]


def test_trade_offs_are_a_table_and_a_chart(opened: Opened) -> None:
    found = mapper.front("mnist-tcpa", "tcpa-4x4", options=Options(max_pes=8))
    page = opened(found.to_json())
    assert page.locator("table.front tbody tr").count() == len(found.points)
    assert "(all)" in page.locator("h2").inner_text()
    assert page.locator(".results dt").all_inner_texts() == ["trade-offs", "PEs", "throughput", "proven"]
    drawn = page.locator("svg.chart").text_content() or ""
    assert "mnist-tcpa on tcpa-4x4" in drawn and drawn.count("frames") > 0 < drawn.count("PEs")


def test_a_stair_goes_through_the_points_that_no_other_equals_in_both_costs() -> None:
    least = [(1.0, 9.0, 1), (2.0, 9.5, 2), (3.0, 4.0, 3), (3.0, 5.0, 4)]
    assert _stair(least, most=False) == [(1.0, 9.0), (3.0, 4.0)]
    assert _stair(least, most=True) == [(1.0, 9.0), (2.0, 9.5)]


def test_value_and_bound_are_drawn_over_time(opened: Opened, tiled: Solution) -> None:
    document = tiled.to_json()
    value = document["parts"][0]["certificate"]["value"]
    document["parts"][0]["history"] = [
        {"seconds": 0.5, "value": 2 * value, "bound": None},
        {"seconds": 1.5, "value": value, "bound": value},
    ]
    drawn = opened(document).locator("figure.history svg")
    assert {"value", "bound", "time since the search began, s"} <= set(
        drawn.locator("text").all_text_contents()
    )


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_in_light_and_dark(opened: Opened, scheduled: Solution, dark: bool) -> None:
    page = opened(scheduled, dark=dark)
    ink, paper = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
        ".map((colour) => colour.match(/\\d+/g).slice(0, 3).map(Number).reduce((a, b) => a + b))"
    )
    assert (ink > paper) == dark
    assert abs(ink - paper) > 500


def test_a_page_without_scripts_tells_everything_in_words(opened: Opened, selected: Solution) -> None:
    page = opened(selected, scripts=False)
    assert page.locator(".controls").is_visible() is False
    page.locator("summary", has_text="steps in words").click()
    assert page.locator(".steps li").first.is_visible()


def test_on_paper_there_are_no_buttons_and_everything_is_open(opened: Opened, selected: Solution) -> None:
    page = opened(selected)
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("button:visible").count() == 0
    assert page.locator("details:not([open])").count() == 0
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"


def test_machines_side_by_side_say_what_their_figures_leave_out(opened: Opened) -> None:
    found = side_by_side("lenet5", ["dmazerunner-256", "dynamap-u200"])
    page = opened(found.to_json())
    assert page.locator("table.machines tbody tr").count() == 2
    warned = page.locator("table.warned tbody tr").all_inner_texts()
    assert all(
        said in row for row, solved in zip(warned, found.rows, strict=True) for said in solved.warnings
    )


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["dmazerunner-256", "dynamap-u200", "snowflake-1cc", "srp-4x4"])
def test_pages_of_a_large_network_stay_small(opened: Opened, arch: str) -> None:
    # What is checked is the page; a search that is cut has as much to show.
    page = opened(mapper.solve("resnet50", arch, search=mapper.Search(time_limit=60.0)))
    assert page.locator("table.costs tbody tr").count() >= 1


def test_what_is_proven_to_have_no_mapping_says_why() -> None:
    options = mapper.Options(min_throughput=5000.0)
    page = mapper.report(mapper.solve("mnist-tcpa", "tcpa-4x4", "pes", options))
    assert "Proven by solver: this problem has no mapping." in page
    assert "the bottleneck is conv2" in page


def test_the_command_writes_the_page_of_a_solution_file(mapper: Any, tmp_path: Path, tiled: Solution) -> None:
    from mapper.cli.option import dumped

    solution, page = tmp_path / "solution.json", tmp_path / "page.html"
    solution.write_text(dumped(tiled.to_json()))
    code, out, _ = mapper("report", str(solution), "-o", str(page))
    assert (code, out) == (0, f"{page}\n")
    assert page.read_text().startswith("<!doctype html>")


def test_a_page_is_the_same_every_time(tiled: Solution) -> None:
    assert mapper.report(tiled) == mapper.report(tiled.to_json())
