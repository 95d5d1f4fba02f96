"""Drivers that keep an agent's memory."""
