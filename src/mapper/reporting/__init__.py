"""Report pages: solutions, comparisons and sweeps as one HTML file that needs nothing else."""

from mapper.reporting.page import report

__all__ = ["report"]
