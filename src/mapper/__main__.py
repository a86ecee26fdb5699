"""``python -m mapper``."""

from mapper.entry import main

main()
