"""Real faults of systems like this one as data, and the one runner that plays them: `python -m tests.cases FILE`."""
