"""Selection: how much of what an oracle earns is left when a memory has to find its poison out by itself."""
