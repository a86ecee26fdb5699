"""The cycle simulator of Snowflake."""
