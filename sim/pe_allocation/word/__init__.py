"""PEs at work: programs executed word by word, and an array of them."""
