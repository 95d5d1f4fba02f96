"""The at-home suite: a model of one's own, with and without memory. Never run in CI."""
