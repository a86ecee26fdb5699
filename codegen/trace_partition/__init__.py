"""From steps to Snowflake instructions (004, section 4)."""
