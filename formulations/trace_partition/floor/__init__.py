"""What tiles of a layer cost at least, one by one and in boxes."""
