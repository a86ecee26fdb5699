"""Programs that check proofs, one for each kind: standard library alone, and nothing of mapper."""
