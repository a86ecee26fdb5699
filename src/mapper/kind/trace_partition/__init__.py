"""The kind ``trace_partition``: networks on the Snowflake accelerator."""
