"""The model against Timeloop's evaluations of mappings on Gemmini-like machines."""

from __future__ import annotations

import pytest

from bench.hierarchy.gemmini import accesses, by_machine, cost, energy_errors, rows

SAMPLE = rows()[::50]


@pytest.mark.parametrize("place", range(len(SAMPLE)))
def test_cycles_are_those_of_timeloop(place: int) -> None:
    assert cost(SAMPLE[place]).cycles == int(SAMPLE[place]["cycle"])


def test_a_row_has_no_more_than_ten_energies() -> None:
    assert len(accesses(SAMPLE[0])) <= 10


def test_energies_fitted_on_twenty_rows_give_those_of_all_others() -> None:
    own = next(iter(by_machine().values()))
    assert energy_errors(own).max() < 1e-4


@pytest.mark.slow
def test_all_rows_have_the_cycles_of_timeloop() -> None:
    assert [row["mapping"] for row in rows() if cost(row).cycles != int(row["cycle"])] == []


@pytest.mark.slow
@pytest.mark.parametrize("machine", by_machine())
def test_energies_of_every_machine_follow_from_five(machine: tuple[str, ...]) -> None:
    assert energy_errors(by_machine()[machine]).max() < 1e-4
