"""Where the PEs of an allocation stand on the grid."""
