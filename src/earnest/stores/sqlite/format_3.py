"""What format 3 adds to a store file. Each part is a script of its own; together they are one migration."""

from __future__ import annotations

from typing import Final

from earnest.stores.sqlite.format_3_archives import ARCHIVES
from earnest.stores.sqlite.format_3_links import LINKS
from earnest.stores.sqlite.format_3_replies import REPLIES
from earnest.stores.sqlite.format_3_rules import RULES
from earnest.stores.sqlite.format_3_seals import SEALS

V3: Final = LINKS + RULES + REPLIES + SEALS + ARCHIVES
"""The format after the second. One script; see `schema.MIGRATIONS`."""
