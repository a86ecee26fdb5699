"""How a layer is cut: clusters, tiles, the windows of each, and where their weights lie."""
