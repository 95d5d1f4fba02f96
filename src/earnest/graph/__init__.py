"""Links between entries, and a memory that associates: `OrganicMemory`."""

from earnest.graph.organic import OrganicMemory

__all__ = ["OrganicMemory"]
