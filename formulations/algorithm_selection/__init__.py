"""The problem of algorithm selection, its referee and its cost graph [Meng2021]."""
