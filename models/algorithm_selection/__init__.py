"""What an algorithm selection is and what it costs [Meng2021].

It has no bound.py: what a layer costs at least depends on the shape of the array, so bounds belong to the problem.
"""
