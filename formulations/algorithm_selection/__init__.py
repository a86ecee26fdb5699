"""The problem of algorithm selection, its referee and its cost graph [Meng2021].

Its program is that of PBQP, on the cost graph of a shape of the array: there is no cp_sat.py and no ilp.py. It has no
bound.py: shapes are bounded by eliminating vertices of the graph, which the searches do (`solver/algorithm_selection`).
"""
