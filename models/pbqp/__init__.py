"""What an answer to a PBQP instance is [Meng2021, sec. 4].

It has no cost.py: an assignment costs the sum of the entries that the instance itself states; and no bound.py for the
same reason.
"""
