"""The placement of an allocation's PEs on the grid."""
