"""Certificates are read as they were written."""

from __future__ import annotations

import pytest

from mapper.solver.certificate import Certificate, certificate_from_json

CLAIM = Certificate("complete", True, 3, 3, True, "soc", ("none",), True, (), 1.5, 1.25, 7, 0, 2)
CERTIFIED = Certificate("complete", True, 3, 3, True, "soc", certified=True)
BOUNDED = Certificate("time_limit", False, None, 2.5, False, "cp-sat")


@pytest.mark.parametrize("written", [CLAIM, CERTIFIED, BOUNDED], ids=["solver", "certified", "bounded"])
def test_a_certificate_comes_back_with_all_that_it_says(written: Certificate) -> None:
    read = certificate_from_json(written.to_json())
    assert read == written
    assert read.evidence == written.evidence
