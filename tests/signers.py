"""Lists of signers for tests: public keys of names, always the same, and nobody's secret."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from ppdm_flow.evidence.keys import SigningKey


def key_of(name: str) -> SigningKey:
    """Return the key of a name."""
    return SigningKey.from_seed(hashlib.sha256(name.encode()).digest())


def signers_text(roles: Mapping[str, str], **more: str) -> str:
    """Return a list of signers: ``roles`` by name, separated by commas, and what else is said of some of them."""
    lines = []
    for name, listed in roles.items():
        said = [f"roles: [{listed}]", f"key: {key_of(name).public.text}", *([more[name]] if name in more else ())]
        lines.append(f"  {name}: {{{', '.join(said)}}}\n")
    return "version: 1\nsigners:\n" + "".join(lines)
