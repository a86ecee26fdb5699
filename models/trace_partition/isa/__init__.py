"""Snowflake's instructions, assembler, and files of programs."""
