"""Every command and option, as data: the parser, the shell completion and the reference are made from these tables."""

from earnest.cli.tables.commands import COMMANDS
from earnest.cli.tables.options import EVERYWHERE, KINDS, RETENTIONS, STANDINGS, TIERS, Command, Option

__all__ = ["COMMANDS", "EVERYWHERE", "KINDS", "RETENTIONS", "STANDINGS", "TIERS", "Command", "Option"]
