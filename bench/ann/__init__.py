"""What the extra `ann` gives, and what it costs: see `python -m bench.ann`."""
