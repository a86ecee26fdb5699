"""The documentation; ``docs.lessons`` can be run."""
