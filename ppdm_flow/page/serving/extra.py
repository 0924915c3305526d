"""What `ppdm-flow serve` needs beside the rest of the program."""

from __future__ import annotations

from importlib.util import find_spec

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError

_PACKAGES = ("argon2", "python_multipart", "starlette", "uvicorn")


def check_extra() -> None:
    """Raise PluginError where the packages of the page are not installed (PPF723)."""
    missing = [name for name in _PACKAGES if not _is_there(name)]
    if missing:
        text = f"the page needs an extra: {', '.join(f'`{name}`' for name in missing)} cannot be imported"
        raise PluginError(Diagnostic("PPF723", text, help="pip install 'ppdm_flow[page]'"))


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ImportError:
        return False
