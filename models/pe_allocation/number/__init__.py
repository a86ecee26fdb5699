"""A network's own numbers on the array: words with a fraction for each layer, weights and biases among them."""
