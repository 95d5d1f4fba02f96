"""The verbs of `Memory`, by theme."""
