"""How much may be uploaded, and what is said where it is more."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.page.settings import Settings

_MEGABYTE = 2**20


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """Sizes in bytes; ``hours`` is how long an upload is kept."""

    hours: float
    bytes_each: int
    number_a_person: int
    bytes_a_person: int
    bytes_in_all: int
    free_bytes: int
    unpacked_bytes: int
    unpacked_ratio: int
    columns: int

    @classmethod
    def of(cls, settings: Settings) -> UploadLimits:
        """Return the limits of a server."""
        return cls(
            settings.upload_hours,
            settings.upload_bytes,
            settings.uploads_a_person,
            settings.upload_bytes_a_person,
            settings.upload_bytes_in_all,
            settings.free_bytes,
            settings.unpacked_bytes,
            settings.unpacked_ratio,
            settings.upload_columns,
        )


def refused(text: str, most: int | None = None) -> UsageError:
    """Say that an upload exceeds a limit (PPF994)."""
    limit = "" if most is None else f" ({most // _MEGABYTE:,} MB)"
    help_ = "remove an upload that you no longer need, or ask who runs the server for more room"
    return UsageError(Diagnostic("PPF994", f"{text}{limit}", help=help_))
