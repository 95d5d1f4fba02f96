"""A scripted month of a repository: real test runs, and what becomes of its lessons."""
