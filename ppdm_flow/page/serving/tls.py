"""The certificate of the server."""

from __future__ import annotations

import ssl

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.page.settings import Settings


def check_tls(settings: Settings) -> None:
    """Raise UsageError where the files of certificate and key are not both there, or do not fit (PPF992)."""
    cert, key = settings.tls_cert, settings.tls_key
    if cert is None and key is None:
        return
    if cert is None or key is None:
        text = "`--tls-cert` and `--tls-key` go together"
        raise UsageError(Diagnostic("PPF992", text, help="give the certificate and its private key, both as PEM"))
    for option, file in (("--tls-cert", cert), ("--tls-key", key)):
        if not file.is_file():
            raise UsageError(Diagnostic("PPF992", f"`{option} {file}` is no file"))
    if key.stat().st_mode & 0o007:
        text = f"every user of this machine may read `--tls-key {key}`"
        raise UsageError(Diagnostic("PPF992", text, help=f"chmod o= {key}"))
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password=_no_password)
    except (ssl.SSLError, OSError):
        text = "the certificate cannot be used with its key"
        help_ = f"`{cert}` must be PEM with the certificate first, and `{key}` its private key without a passphrase"
        raise UsageError(Diagnostic("PPF992", text, help=help_)) from None


def _no_password() -> str:
    """Answer in place of OpenSSL's own question on the terminal."""
    return ""
