"""Loop nests on a TCPA: tiles of iterations on PEs, and linear schedules."""
