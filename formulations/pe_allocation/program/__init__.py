"""The programs of layer-parallel mode: PEs for all layers at once.

The other modes, and placement, have rooms of their own.
"""
