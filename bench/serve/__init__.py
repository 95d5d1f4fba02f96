"""The REST service under load: how many requests, how late the slowest, and whether its memory stays flat."""
