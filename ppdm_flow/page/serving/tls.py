"""The certificate of the server: one that is given, or one that the server makes and signs itself."""

from __future__ import annotations

import datetime as dt
import hashlib
import ipaddress
import ssl
from dataclasses import replace
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.page.services.policies.writing import put
from ppdm_flow.page.settings import Settings

_DAYS = 365
_RENEWED = dt.timedelta(days=30)
"""Before the end of its time in which a certificate is made anew when the server starts."""


def check_tls(settings: Settings) -> None:
    """Raise UsageError where the files of certificate and key are not both there, or do not fit (PPF992)."""
    cert, key = settings.tls_cert, settings.tls_key
    if cert is None and key is None:
        return
    if settings.own_certificate:
        text = "`--tls` makes a certificate, and `--tls-cert` and `--tls-key` give one"
        raise UsageError(Diagnostic("PPF992", text, help="leave one of both away"))
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


def with_own_certificate(settings: Settings) -> Settings:
    """Return settings with the certificate that the server makes itself, where they ask for it.

    It is kept in ``--state``, so that browsers know it again, until its time is nearly over or the names differ. Raises
    UsageError where what is kept cannot be used (PPF992).
    """
    if not settings.own_certificate:
        return settings
    cert, key = settings.own_certificate_files
    if not (key.is_file() and _is_current(cert, _names(settings))):
        try:
            _make_certificate(cert, key, _names(settings))
        except (OSError, ValueError):
            text = "no certificate can be made for the names of the server, or kept in `--state`"
            raise UsageError(Diagnostic("PPF992", text, help="give names as browsers send them: ASCII")) from None
    settings = replace(settings, tls_cert=cert, tls_key=key)
    check_tls(replace(settings, own_certificate=False))
    return settings


def fingerprint(settings: Settings) -> str:
    """Return what browsers show of the server's own certificate: the SHA-256 of its DER form, in pairs of digits."""
    der = ssl.PEM_cert_to_DER_cert(settings.own_certificate_files[0].read_text(encoding="ascii"))
    return hashlib.sha256(der).digest().hex(":").upper()


def _names(settings: Settings) -> frozenset[str]:
    """Return the names and addresses by which browsers may ask for the server."""
    return frozenset({*settings.names, settings.host, "localhost", "127.0.0.1", "::1"})


def _is_current(cert: Path, names: frozenset[str]) -> bool:
    try:
        kept = x509.load_pem_x509_certificate(cert.read_bytes())
        known = kept.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, x509.ExtensionNotFound):
        return False
    in_time = kept.not_valid_after_utc - dt.datetime.now(dt.UTC) > _RENEWED
    return in_time and {str(each.value) for each in known} == names


def _make_certificate(cert: Path, key: Path, names: frozenset[str]) -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "ppdm-flow serve")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=_DAYS))
        .add_extension(x509.SubjectAlternativeName([_general_name(each) for each in sorted(names)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(private, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    for file, data in ((key, private.private_bytes(pem, *plain)), (cert, made.public_bytes(pem))):
        put(file, data, 0o600)


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _no_password() -> str:
    """Answer in place of OpenSSL's own question on the terminal."""
    return ""
