"""The kind ``algorithm_selection``: networks on the DYNAMAP overlay."""
