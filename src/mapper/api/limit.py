"""Ranges of numeric options. No machine, solver or file of today has a use for numbers beyond them."""

LARGEST_SEED = (1 << 31) - 1
"""What every solver takes."""
MOST_WORKERS = 1024
LONGEST_SECONDS = 1e8
"""Three years; a clock that is asked for more overflows."""
LARGEST_BATCH = 1 << 20
MOST_PES = 1 << 31
LARGEST_BUFFER = 1 << 50
"""Bytes, as machines may have them."""
MOST_FRAMES = 1e15
LONGEST_LATENCY = 1e15
"""Milliseconds."""
