"""From a network of layers to what Snowflake runs."""
