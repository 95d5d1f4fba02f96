"""The command line of a case, whichever surface the case is played on."""

from __future__ import annotations

from .cli_surface import CliSurface
from .run import Run


def commands(run: Run, **environ: str) -> CliSurface:
    """The command line on the case's folder, started as the case has it, with this added to its environment."""
    made = CliSurface(run.folder)
    made.started, made.environ = run.facts.get("started", {}), environ
    if isinstance(run.surface, CliSurface):
        run.surface.started = made.started
    return made
