"""Benchmarks: what Earnest keeps and what it costs, measured beside the best known. See bench/README.md."""
