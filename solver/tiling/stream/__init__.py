"""Exact search where memories are filled as streams [Dave2019, sec. 5]: tables, bounds and costs of both searches."""
