"""Networks as graphs of operators and as layers that run one after another."""
