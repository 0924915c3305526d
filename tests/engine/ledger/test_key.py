"""Hashes that nobody makes without the key of a ledger."""

from __future__ import annotations

import hmac

import pytest

from ppdm_flow.engine.ledger.key import WIDTH, LedgerKey, packed


@pytest.mark.parametrize("length", [1, 32, 64, 65, 200])
def test_hashes_are_those_of_rfc_2104(length: int) -> None:
    secret = bytes(range(length))
    texts = [b"", b"one", "zw\u00f6lf".encode(), b"long" * 100]
    hashes = packed(LedgerKey(secret).hashes("person", texts))
    assert hashes == b"".join(hmac.digest(secret, b"person\0" + text, "sha256")[:WIDTH] for text in texts)
