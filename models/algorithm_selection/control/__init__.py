"""The control sequence of the overlay, and the walks of its address generators."""
