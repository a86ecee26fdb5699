"""The command line: options, commands, tables, and how the program starts and ends."""
