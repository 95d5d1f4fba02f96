"""Finding what memory knows, and saying it with its provenance."""
