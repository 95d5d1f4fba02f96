"""The ledger: decisions, what the world said of them, and what that does to entries."""
