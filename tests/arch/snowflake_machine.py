"""Snowflake as tests take it."""

from __future__ import annotations

from typing import Any

from mapper.arch.snowflake import SnowflakeMachine, snowflake_from_document, snowflake_preset


def machine(clusters: int = 1, **changes: Any) -> SnowflakeMachine:
    """The preset with ``clusters`` clusters, with other fields as ``changes`` says."""
    fields = snowflake_preset(f"snowflake-{clusters}cc")
    assert fields is not None
    return snowflake_from_document(fields | changes, "test")
