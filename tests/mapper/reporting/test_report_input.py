"""Report pages of hostile and wrong documents: names stay text, and what is no result is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto, helper, save
from playwright.sync_api import Page

import mapper
from mapper.api.solution import Solution
from mapper.reporting.document import problem_key

Opened = Callable[..., Page]

SCRIPT = "<script>alert(1)</script>"
TURNED = "\N{RIGHT-TO-LEFT OVERRIDE}evil\x07\x1b[31m\N{HEBREW LETTER ALEF}"


@pytest.mark.parametrize(("arch", "longest"), [("dmazerunner-256", 10_000), ("dynamap-u200", 4_000)])
def test_hostile_names_stay_text(opened: Opened, tmp_path: Path, arch: str, longest: int) -> None:
    path = tmp_path / "<img src=x onerror=alert(2)>.onnx"
    names = [SCRIPT, "x" * longest, TURNED]
    tensors = ["input", SCRIPT, "x" * 4_000, TURNED]
    nodes = [
        helper.make_node("Conv", [tensors[place], f"w{place}"], [tensors[place + 1]], name=name)
        for place, name in enumerate(names)
    ]
    shape = [1, 4, 8, 8]
    weights = [
        helper.make_tensor(f"w{place}", TensorProto.FLOAT, [4, 4, 1, 1], [1.0] * 16) for place in range(3)
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("input", TURNED)]
    save(helper.make_model(helper.make_graph(nodes, SCRIPT, ends[:1], ends[1:], weights)), path)
    page = opened(mapper.solve(str(path), arch))
    assert page.locator("main script, main img").count() == 0
    text = page.locator("body").inner_text()
    assert "<img src=x onerror=alert(2)>" in text
    assert not any(char in text for char in TURNED if not char.isprintable())
    assert "x" * 500 not in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "schema: must be mapper.solution/1"),
        ('{"schema": "mapper.comparison/1", "rows": []}', "rows: must list what was compared"),
        ('{"schema": "mapper.sweep/1", "rows": [{"vary": {"a": 1}}]}', "rows.0.certificate: is none"),
        ("[", "report.json"),
    ],
)
def test_what_is_no_result_is_one_line(mapper: Any, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    code, out, error = mapper("report", str(path), "-o", str(tmp_path / "page.html"))
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert said in error
    assert not (tmp_path / "page.html").exists()


def test_a_value_that_its_mapping_does_not_have_is_refused(tiled: Solution) -> None:
    document = tiled.to_json()
    for key in ("value", "bound"):
        document["certificate"][key] *= 2
    with pytest.raises(mapper.InputError, match="but the mapping costs"):
        mapper.report(document)


@pytest.mark.parametrize(
    ("key", "value"),
    [("evaluations", "<b>"), ("seconds", 10**400), ("bound", float("nan")), ("stop", "never")],
)
def test_a_certificate_that_is_none_is_refused(tiled: Solution, key: str, value: Any) -> None:
    document = tiled.to_json()
    document["certificate"][key] = value
    with pytest.raises(mapper.InputError, match="certificate: is none"):
        mapper.report(document)


@pytest.mark.parametrize("given", [["pe 0"], "pe 0", 7])
def test_a_mapping_that_is_no_object_is_one_line_wherever_it_is_read(scheduled: Solution, given: Any) -> None:
    document = scheduled.to_json()
    document["parts"][0]["mapping"] = given
    for read in (mapper.report, mapper.simulate):
        with pytest.raises(mapper.InputError, match="mapping: must be an object"):
            read(document)


def test_a_proof_whose_bound_is_not_its_value_is_refused(tiled: Solution) -> None:
    document = tiled.to_json()
    document["certificate"]["bound"] /= 2
    with pytest.raises(mapper.InputError, match="is called proven"):
        mapper.report(document)


def test_a_mapping_that_breaks_a_rule_is_rejected_in_words(tiled: Solution) -> None:
    document = tiled.to_json()
    document["parts"][0]["mapping"]["tiling"]["M"] = {"dram": 1, "spm": 1, "rf": 32, "spatial": 16}
    document["certificate"]["value"] = None
    page = mapper.report(document)
    assert "Rejected: the mapping breaks rules of the problem." in page
    assert "Proven" not in page


def test_a_problem_with_keys_that_no_json_has_still_has_a_key() -> None:
    assert problem_key({None: 1, "workload": "a", 7: 2}) == problem_key({"None": 1, "workload": "a", "7": 2})  # type: ignore[dict-item]
