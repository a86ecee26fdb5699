"""The Python API: posing, solving, evaluating and comparing problems, and the values that answers consist of."""
