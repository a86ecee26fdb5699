"""Whole kernels: functions in C with all their loops, as the kind `modulo_schedule` maps them."""
