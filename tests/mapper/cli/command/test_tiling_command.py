"""Commands on tilings: work done, mappings in a line, trade-offs and limits on latency."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LAYER = "resnet-dmazerunner/conv5_2"
MACS = 462_422_016


def answer(mapper: Any, *arguments: str) -> dict[str, Any]:
    code, out, _ = mapper(*arguments, "--json")
    assert code == 0
    document: dict[str, Any] = json.loads(out)
    return document


def test_a_solution_says_how_many_multiplications_there_are_and_how_far_the_array_is_used(
    mapper: Any,
) -> None:
    part = answer(mapper, "solve", LAYER)["parts"][0]
    used = MACS / (256 * part["cost"]["cycles"])
    assert (part["breakdown"]["macs"], part["breakdown"]["utilisation"]) == (MACS, used)
    code, out, _ = mapper("solve", LAYER)
    assert code == 0
    assert "462,422,016" in out and f"{used:.1%}" in out


def test_a_sweep_shows_work_and_the_mapping_of_every_machine(mapper: Any) -> None:
    arguments = ("sweep", LAYER, "--vary", "pe_array.rows=8,16")
    rows = answer(mapper, *arguments)["rows"]
    assert [row["macs"] for row in rows] == [MACS, MACS]
    assert rows[0]["utilisation"] == MACS / (128 * rows[0]["cost"]["cycles"])
    assert rows[1]["mapping"]["tiling"]["M"] == {"dram": 8, "spm": 1, "rf": 4, "spatial": 16}
    code, out, _ = mapper(*arguments)
    assert code == 0
    assert "M8 C64 | C4 | N2 M4 C2 Ox7 Fx3 Fy3 | N2 M16 Oy7" in out


def test_a_front_is_listed_drawn_and_all_there_is(mapper: Any, tmp_path: Path) -> None:
    file = tmp_path / "front.json"
    code, out, _ = mapper("solve", LAYER, "--pareto", "-o", str(file), "--plot", str(tmp_path / "front.svg"))
    assert code == 0 and "all trade-offs" in out
    front = json.loads(file.read_text())
    costs = [(point["cost"]["energy_pj"], point["cost"]["cycles"]) for point in front["points"]]
    assert costs == [
        (2_581_195_121, 3_450_848),
        (2_723_360_717, 2_557_840),
        (2_784_205_169, 2_458_496),
        (2_807_798_129, 2_457_488),
    ]
    assert front["complete"] and all(point["certificate"]["proven"] for point in front["points"])
    assert "energy-delay product" in (tmp_path / "front.svg").read_text()
    page = tmp_path / "report.html"
    assert mapper("report", str(file), "-o", str(page))[0] == 0
    assert "energy over latency" in page.read_text()


def test_a_limit_on_latency_is_kept_and_stands_in_the_document(mapper: Any, tmp_path: Path) -> None:
    found = answer(mapper, "solve", LAYER, "--objective", "energy", "--max-latency", "5.1157")
    assert found["problem"]["options"]["max_latency"] == 5.1157
    assert found["cost"]["energy_pj"] == 2_723_360_717 and found["certificate"]["proven"]
    file = tmp_path / "solution.json"
    file.write_text(json.dumps(found))
    assert mapper("simulate", str(file))[0] == 0


def test_a_limit_that_no_mapping_keeps_is_named_as_the_reason(mapper: Any) -> None:
    code, _, err = mapper("solve", LAYER, "--max-latency", "4.9")
    assert code == 1
    assert "2,450,000 cycles or fewer; raise --max-latency" in err


def test_layers_share_a_limit_and_too_short_a_one_names_the_least(mapper: Any) -> None:
    found = answer(mapper, "solve", "resnet-dmazerunner", "--objective", "energy", "--max-latency", "40")
    assert found["cost"]["energy_pj"] == 15_635_328_292 and found["certificate"]["proven"]
    assert found["certificate"]["bound"] == found["certificate"]["value"]
    code, _, err = mapper("solve", "resnet-dmazerunner", "--max-latency", "30")
    assert code == 1
    assert "19,766,544 cycles at least; raise --max-latency to 39.5331 ms" in err


def test_an_array_with_axes_says_what_runs_along_them(mapper: Any, tmp_path: Path) -> None:
    pins = ("--fix", "spatial.rows=C", "--fix", "spatial.columns=M")
    file = tmp_path / "solution.json"
    code, out, _ = mapper("solve", LAYER, "--arch", "systolic-16x16", *pins, "-o", str(file))
    assert code == 0 and "rows     C=16" in out and "columns  M=16" in out
    mapping = json.loads(file.read_text())["parts"][0]["mapping"]
    assert mapping["axes"] == {"rows": {"C": 16}, "columns": {"M": 16}}
    assert {loop: row["spatial"] for loop, row in mapping["tiling"].items() if row["spatial"] > 1} == {
        "M": 16,
        "C": 16,
    }
    assert mapper("simulate", str(file))[0] == 0
    assert mapper("evaluate", LAYER, "--arch", "systolic-16x16", "--mapping", str(file))[0] == 0
    page = tmp_path / "report.html"
    assert mapper("report", str(file), "-o", str(page))[0] == 0
    assert "parallel for C = 0..15 (rows 16)" in page.read_text()
    code, _, err = mapper("solve", LAYER, *pins)
    assert code == 2 and "dmazerunner-256 does not tell rows from columns" in err


def test_rows_and_columns_are_not_exchangeable_where_sums_go_down_the_rows(mapper: Any) -> None:
    arguments = ("sweep", LAYER, "--arch", "systolic-16x16", "--fix", "spatial.rows=C")
    rows = answer(mapper, *arguments, "--vary", "pe_array.rows=4,64", "--vary", "pe_array.columns=64,4")[
        "rows"
    ]
    one, other = (
        next(row for row in rows if (row["vary"]["pe_array.rows"], row["vary"]["pe_array.columns"]) == shape)
        for shape in ((4, 64), (64, 4))
    )
    assert one["cost"]["edp_pj_cycles"] != other["cost"]["edp_pj_cycles"]


def test_a_proof_with_axes_and_a_limit_is_certified_and_told(mapper: Any, tmp_path: Path) -> None:
    file = tmp_path / "proofs.json"
    pins = ("--fix", "spatial.rows=C", "--objective", "energy", "--max-latency", "4")
    code, out, _ = mapper("solve", LAYER, "--arch", "systolic-16x16", *pins, "--certificate", str(file))
    assert code == 0 and "1 of 1 certified" in out
    code, out, _ = mapper("explain", "--proof", str(file))
    assert code == 0
    assert "room for loops along rows and along columns" in out
    assert "Only tilings that take 2,000,000 cycles or fewer count" in out
