"""all-MiniLM-L6-v2 on numpy alone: the weights, the pieces of words, and the network."""
