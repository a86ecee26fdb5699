"""``python -m mapper``."""

from mapper.cli import main

main()
