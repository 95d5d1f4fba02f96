"""The command line: it parses, calls the façade and prints; it decides nothing."""
