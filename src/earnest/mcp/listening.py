"""Where a server listens: an address of this machine, taken before anything is said of it, so that one that is taken is a plain error."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from earnest.errors import InvalidInput


def loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def bracketed(host: str) -> str:
    """A host as it stands in an address: one of IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes a free one.

    Raises:
        InvalidInput: The address is none of this machine's, or the port is taken or not allowed.
    """
    plain = host.strip("[]")
    family = socket.AF_INET6 if ":" in plain else socket.AF_INET
    # With the protocol named, asyncio sends small answers at once; else each waits 40 ms for what might follow.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if not hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
            # Where that is known, the option would let another program take the port over; elsewhere it only spares a wait.
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((plain, port))
        made.listen(128)
        made.set_inheritable(False)
    except OSError as error:
        made.close()
        raise InvalidInput("port", port, f"cannot be listened on at {host} ({error.strerror or error}); name another") from error
    return made
