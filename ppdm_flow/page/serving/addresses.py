"""Where the server listens, and by which names browsers may ask for it."""

from __future__ import annotations

import ipaddress
import os
import socket
from contextlib import suppress

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.page.settings import Settings


def check_address(settings: Settings) -> None:
    """Raise UsageError where what is sent could be read on its way (PPF989), or no name would be answered (PPF993)."""
    encrypted = settings.tls_cert or settings.own_certificate or settings.proxy
    if not (is_loopback(settings.host) or encrypted):
        text = f"`--host {settings.host}` is reached by other machines, and nothing encrypts what they send"
        help_ = (
            "give `--tls-cert` and `--tls-key`, or `--tls`;"
            " or `--behind-proxy ADDRESS` where a proxy there talks HTTPS to browsers"
        )
        raise UsageError(Diagnostic("PPF989", text, help=help_))
    if settings.proxy and not _is_network(settings.proxy):
        text = f"`--behind-proxy {settings.proxy}` is no address"
        raise UsageError(Diagnostic("PPF989", text, help="give the proxy's own address, as 127.0.0.1 or 10.0.0.0/28"))
    if not settings.names and (settings.proxy or _is_everywhere(settings.host)):
        text = "nothing says by which name browsers reach the server"
        raise UsageError(Diagnostic("PPF993", text, help="say it, as `--name release.example.org`; repeatable"))


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if host == "localhost":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def listening(settings: Settings) -> socket.socket:
    """Return a socket that takes connections. Raises UsageError where the address is wrong or taken (PPF991)."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
    except OSError as error:
        text = f"`--host {settings.host}` is no address of this machine"
        raise UsageError(Diagnostic("PPF991", text)) from error
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(settings.connections)
    except OSError as error:
        made.close()
        text = f"cannot listen at {settings.host}, port {settings.port}: {os.strerror(error.errno or 0)}"
        help_ = "another program may have the port: choose one by `--port`; 0 takes any that is free"
        raise UsageError(Diagnostic("PPF991", text, help=help_)) from None
    made.set_inheritable(False)
    return made


def address_of(settings: Settings, listening_at: socket.socket) -> str:
    """Return what a browser is told, as http://127.0.0.1:8471."""
    port = listening_at.getsockname()[1]
    if settings.proxy and settings.names:
        return f"https://{settings.names[0]}"
    host = settings.names[0] if settings.names else settings.host
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if settings.tls_cert else 'http'}://{shown}:{port}"


def _is_network(text: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_network(text, strict=False).prefixlen > 0
    return False


def _is_everywhere(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_unspecified
    return False
