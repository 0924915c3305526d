"""Telling how a run goes on: live on a terminal, a plain line for each finished stage otherwise."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ppdm_flow.cli.terminal.output import LOUDNESS, say
from ppdm_flow.engine.events import Event, Listener, RequirementJudged, StepFinished, StepStarted, ignore_events


@contextmanager
def listening() -> Iterator[Listener]:
    """Give a listener; bars are drawn only where stderr is a terminal, and rich is imported only then."""
    if LOUDNESS.quiet:
        yield ignore_events
    elif sys.stderr.isatty() and not LOUDNESS.verbose and os.environ.get("TERM") != "dumb":
        from ppdm_flow.cli.terminal.live import bars  # noqa: PLC0415  # see above

        with bars() as listener:
            yield listener
    elif LOUDNESS.verbose:
        lines, phases = Lines(verbose=True), LOUDNESS.phases

        def listener(event: Event) -> None:
            lines(event)
            if phases is not None:
                phases.take(event)

        yield listener
    else:
        yield Lines(verbose=False)


class Lines:
    """One plain line for each stage."""

    def __init__(self, *, verbose: bool) -> None:
        self._verbose = verbose

    def __call__(self, event: Event) -> None:
        """Write a line where the event is worth one."""
        match event:
            case StepStarted() if self._verbose:
                say(f"{event.name} …")
            case StepFinished():
                memory = f", peak {event.peak_mb:.0f} MB" if self._verbose and event.peak_mb else ""
                say(f"{event.name}: {rows(event.rows)} in {seconds(event.seconds)}{memory}")
            case RequirementJudged() if self._verbose:
                say(f"{event.name} on {event.release}: {'holds' if event.holds else 'does not hold'}")


def rows(number: int) -> str:
    """Return a number of rows for people."""
    return f"{number:,} row{'' if number == 1 else 's'}"


def seconds(span: float) -> str:
    """Return a duration for people."""
    return f"{span:.3f} s" if span < 1 else f"{span:.1f} s"
