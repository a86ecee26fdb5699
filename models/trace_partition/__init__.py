"""What a partition of a network's layers into load, compute and store steps on Snowflake is, and what it costs
[Chang2018]."""
