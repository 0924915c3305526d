"""A statement about a release that nobody made."""

from __future__ import annotations

import copy

import pytest
from signed_runs import key
from signed_statement import STATEMENT


@pytest.fixture
def statement():
    """What alice signs."""
    document = copy.deepcopy(STATEMENT)
    public = key("alice").public
    document["predicate"]["signer"] = {"key_id": public.key_id, "key": public.text}
    return document
