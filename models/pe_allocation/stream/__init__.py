"""Layers that stream pixels to each other in raster order, and when each starts."""
