"""What all stages of one run share: plan, options, listener, the memory for caches, and the sign to stop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from ppdm_flow.engine.events import Listener, ignore_events
from ppdm_flow.engine.options import RunOptions
from ppdm_flow.engine.streams.source import Budget
from ppdm_flow.engine.streams.stream import Stop
from ppdm_flow.plan.definition import Plan


@dataclass(slots=True)
class RunContext:
    """``options`` are made to fit the plan. Leaving the context stops everything that still reads.

    A copy with another plan or other options stops with its original, and has a budget of its own.
    """

    plan: Plan
    options: RunOptions = field(default_factory=RunOptions)
    listener: Listener = ignore_events
    stop: Stop = field(default_factory=Stop)
    budget: Budget = field(init=False)

    def __post_init__(self) -> None:
        self.options = self.options.fitting(self.plan)
        self.budget = Budget(self.options.memory_limit)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop.set()
