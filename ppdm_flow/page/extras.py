"""What the page needs beside the rest of the program; it is looked for before anything of it is imported."""

from __future__ import annotations

from importlib.util import find_spec

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError


def check_page() -> None:
    """Raise PluginError where the packages of the page are not installed (PPF723)."""
    _check("the page", "page", "argon2", "python_multipart", "starlette", "uvicorn")


def check_openid() -> None:
    """Raise PluginError where the packages for OpenID Connect are not installed (PPF723)."""
    _check("signing in by OpenID Connect", "oidc", "httpx2", "joserfc")


def _check(who: str, extra: str, *packages: str) -> None:
    missing = ", ".join(f"`{name}`" for name in packages if not _is_there(name))
    if missing:
        text = f"{who} needs an extra: {missing} cannot be imported"
        raise PluginError(Diagnostic("PPF723", text, help=f"pip install 'ppdm_flow[{extra}]'"))


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ImportError:
        return False
