"""How much the jobs of a server may take."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta

from ppdm_flow.page.settings import Settings


@dataclass(frozen=True, slots=True)
class JobLimits:
    """What jobs may take: at once, in the queue, of one person; seconds, bytes of output.

    What they printed is ``kept`` so long, and of so many jobs of one person (``folders``). ``memory`` and
    ``file_bytes`` are those of one job and of each file that it writes; a job is stopped where less than ``free_bytes``
    are left on the disk.
    """

    running: int = 2
    waiting: int = 20
    own: int = 5
    seconds: float = 6 * 3600
    output: int = 16 * 2**20
    kept: timedelta = timedelta(days=3)
    folders: int = 100
    memory: int = 0
    file_bytes: int = 0
    free_bytes: int = 0

    @classmethod
    def of(cls, settings: Settings) -> JobLimits:
        """Return the limits of a server."""
        return cls(
            settings.running_jobs,
            settings.waiting_jobs,
            settings.own_jobs,
            settings.job_minutes * 60.0,
            settings.job_output_bytes,
            timedelta(days=settings.job_days),
            memory=settings.job_memory_bytes or _most_memory(),
            file_bytes=settings.job_file_bytes,
            free_bytes=settings.free_bytes,
        )


def _most_memory() -> int:
    """Return three quarters of the machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4
