"""The kind ``pe_allocation``: networks on tightly coupled processor arrays."""
