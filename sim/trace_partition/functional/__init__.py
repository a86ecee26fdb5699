"""The functional simulator of Snowflake: what a program computes, without time."""
