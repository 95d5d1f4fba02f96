"""Every command, in the order in which the reference and the help tell of them."""

from __future__ import annotations

from typing import Final

from earnest.cli.tables.asking import ASKING
from earnest.cli.tables.keeping import KEEPING
from earnest.cli.tables.looking import LOOKING
from earnest.cli.tables.serving import SERVING
from earnest.cli.tables.trying import TRYING
from earnest.cli.tables.writing import WRITING

COMMANDS: Final = (*TRYING, *WRITING, *ASKING, *LOOKING, *KEEPING, *SERVING)
