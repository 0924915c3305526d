"""OpenID Connect where a server is told of a provider; its packages are imported then, and not before."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.page.services.storage.database import PageDatabase

if TYPE_CHECKING:
    from ppdm_flow.page.services.openid.open_id import OpenId


def open_id(file: Path | None, database: PageDatabase) -> OpenId | None:
    """Return the provider that a file names; None without a file. Raises UsageError, PluginError."""
    if file is None:
        return None
    if find_spec("httpx2") is None or find_spec("joserfc") is None:
        text = "signing in by OpenID Connect needs an extra"
        raise PluginError(Diagnostic("PPF723", text, help="pip install 'ppdm_flow[oidc]'"))
    from ppdm_flow.page.services.openid.open_id import opened  # noqa: PLC0415  # imports what was looked for

    return opened(file, database)
