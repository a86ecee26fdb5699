"""Many machines at once: what searches on machines that differ in sizes and energies alone have in common."""
