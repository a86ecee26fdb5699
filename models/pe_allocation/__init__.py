"""What an allocation of PEs to layers costs on a tightly coupled processor array [Heidorn2019].

It has no bound.py: the closed form bounds a problem with its limits and pins (`formulations/pe_allocation/bound.py`).
"""
