"""The REST service: an edge that authenticates, parses, calls the façade and renders; nothing else."""
