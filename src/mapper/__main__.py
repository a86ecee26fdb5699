"""``python -m mapper``."""

from mapper.cli.entry import main

main()
