"""Searches of algorithm selection problems [Meng2021]."""
