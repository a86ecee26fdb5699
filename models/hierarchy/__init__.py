"""Mappings on any memory hierarchy: mapping values, how they are read, and Timeloop's dense model of their cost."""
