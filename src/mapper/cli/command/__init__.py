"""The commands, a file for each; what two of them need is a floor up."""
