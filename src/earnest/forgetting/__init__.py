"""Forgetting: what is not used fades, what is used grows stronger, and nothing goes without a trace."""
