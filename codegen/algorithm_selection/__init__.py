"""What a choice of algorithms becomes: the overlay in Verilog and its control sequence [Meng2021, secs. 3 and 5]."""

from mapper.codegen.algorithm_selection.overlay import overlay_files

__all__ = ["overlay_files"]
