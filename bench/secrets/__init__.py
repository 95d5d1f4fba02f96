"""How well the write gate tells secrets from what only looks like them."""
