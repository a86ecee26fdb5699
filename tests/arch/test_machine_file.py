"""Machine files are read strictly: a mistake is one line that names the field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from mapper.arch.source import (
    load_machine,
    machine_from_document,
    machine_names,
    machine_to_document,
    preset_text,
)
from mapper.workloads.document import LARGEST_DOCUMENT_BYTES, InputError


def document() -> dict[str, Any]:
    text = preset_text("dmazerunner-256")
    assert text is not None
    fields: dict[str, Any] = yaml.safe_load(text)
    return fields


@pytest.mark.parametrize("name", [one.name for one in machine_names() if "NxM" not in one.name])
def test_a_preset_reads_back_from_its_own_document(name: str) -> None:
    machine, _ = load_machine(name)
    assert machine.name == name
    assert machine_from_document(machine_to_document(machine), name) == machine


def test_the_papers_machine_is_as_the_paper_says() -> None:
    machine, _ = load_machine("dmazerunner-256")
    assert machine.pes == 256
    assert machine.rf_words == 256
    assert machine.spm.visible_banks == 32
    assert (machine.rf_energy_pj, machine.spm_energy_pj) == (0.96, 13.5)


def test_the_fine_machine_differs_from_the_papers_by_sizes_in_between_alone() -> None:
    coarse, fine = (yaml.safe_load(preset_text(f"dmazerunner-256{name}") or "") for name in ("", "-fine"))
    for memory, energies in ((name, coarse["energy_pj"][name]["by_bytes"]) for name in ("rf", "spm")):
        finer = fine["energy_pj"][memory]["by_bytes"]
        assert energies == {size: finer[size] for size in energies}
        assert list(finer) == sorted(finer) and list(finer.values()) == sorted(finer.values())
        fine["energy_pj"][memory] = coarse["energy_pj"][memory]
    assert {key: fine[key] for key in fine if key not in ("name", "description")} == {
        key: coarse[key] for key in coarse if key not in ("name", "description")
    }


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (("pe_array", "rows"), 0, "pe_array.rows"),
        (("pe_array", "columns"), -4, "pe_array.columns"),
        (("pe_array", "rows"), 10**30, "pe_array.rows"),
        (("pe_array", "colour"), 1, "pe_array.colour"),
        (("rf", "bytes"), "many", "rf.bytes"),
        (("rf", "bytes"), 1, "rf.bytes"),
        (("rf", "bytes"), 48, "energy_pj.rf.by_bytes"),
        (("spm", "bank_bytes"), 1 << 20, "spm.bank_bytes"),
        (("noc", "networks"), [], "noc.networks"),
        (("noc", "networks"), [{"carries": "read"}], "noc.networks"),
        (("dma", "clock_mhz"), 0, "dma.clock_mhz"),
        (("dma", "cycles_per_byte"), float("nan"), "dma.cycles_per_byte"),
        (("energy_pj", "dram"), -1, "energy_pj.dram"),
        (("clock_mhz",), "fast", "clock_mhz"),
        (("rules", "partial_sums"), "guessed", "rules.partial_sums"),
        (("schema",), "mapper.toaster/1", "schema"),
    ],
)
def test_a_wrong_field_is_named(path: tuple[str, ...], value: Any, named: str) -> None:
    fields = document()
    place = fields
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(InputError) as refused:
        machine_from_document(fields, "mine.yaml")
    assert "mine.yaml" in str(refused.value)
    assert named in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_field_is_named() -> None:
    fields = document()
    del fields["spm"]
    with pytest.raises(InputError, match=r"mine.yaml: spm"):
        machine_from_document(fields, "mine.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000,
        "a: " + "{b: " * 20_000,
        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b]\n",
        "schema: mapper.dataflow/1\nschema: mapper.dataflow/1\n",
        "\x00\x01\x02",
        "- a\n- b\n",
        "!!python/object/apply:os.system ['true']\n",
        "",
    ],
    ids=["brackets", "braces", "aliases", "twice", "binary", "list", "tag", "empty"],
)
def test_a_broken_or_hostile_file_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "machine.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        load_machine(str(path))
    assert "\n" not in str(refused.value)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "machine.yaml"
    path.write_bytes(b" " * (LARGEST_DOCUMENT_BYTES + 1))
    with pytest.raises(InputError, match="larger than"):
        load_machine(str(path))
