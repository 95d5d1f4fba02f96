"""From the turns of a conversation to entries, and from entries to what a prompt is given. Knows no driver."""

from earnest.conversation.capture import kept_of
from earnest.conversation.prefetching import block

__all__ = ["block", "kept_of"]
