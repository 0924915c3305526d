"""Why nobody was signed in by a provider. None quotes what the provider said."""

from __future__ import annotations


class ProviderError(RuntimeError):
    """The provider cannot be reached, or what it answers cannot be used."""


class TokenRefusedError(ValueError):
    """The token is forged, for somebody else, of another sign-in, or too old."""


class UnknownKeyError(TokenRefusedError):
    """The token is signed by a key that was not among the keys."""
