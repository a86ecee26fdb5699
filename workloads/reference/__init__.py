"""What layers and kernels compute: the oracles that simulators are held against."""
