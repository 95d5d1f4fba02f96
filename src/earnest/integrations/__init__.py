"""Earnest inside other programs."""
