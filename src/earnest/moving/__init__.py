"""Memory on the move: exports that hold everything, and what other programs left behind."""

from earnest.moving.records import Header, Summary
from earnest.moving.streams import read_export, write_export

__all__ = ["Header", "Summary", "read_export", "write_export"]
