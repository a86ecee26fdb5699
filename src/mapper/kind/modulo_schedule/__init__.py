"""The kind ``modulo_schedule``: kernels and networks on CGRAs."""
