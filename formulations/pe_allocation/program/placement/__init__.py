"""The constraint program of placement on the grid."""
