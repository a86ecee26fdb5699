"""Factors that do not divide: mappings whose last passes are smaller, and what they cost, exactly."""
