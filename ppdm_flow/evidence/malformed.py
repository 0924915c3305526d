"""The error of evidence that is not as it has to be; it quotes nothing of what was read."""

from __future__ import annotations


class MalformedError(ValueError):
    """An envelope, statement or key is not of its form. The text says why, as the rest of a sentence."""
