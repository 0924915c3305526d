"""The hashes of texts are SipHash-2-4, wherever in an array a text stands."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.tables.text_hash import LONG, text_hashes

KEY = bytes(range(16))


REFERENCE = {0: 0x726FDB47DD0E0E31, 1: 0x74F839C593DC67FD, 7: 0xAB0200F58B01D137, 8: 0x93F5F5799A932462}
REFERENCE |= {15: 0xA129CA6149BE45E5, 16: 0x3F2ACC7F57C29BDB, 63: 0x958A324CEB064572}
"""Hashes of the bytes 0, 1, 2, ... under ``KEY``, by how many they are; from the authors' program."""


@pytest.mark.parametrize(("size", "expected"), REFERENCE.items())
def test_texts_have_the_hashes_of_the_reference(size, expected):
    assert text_hashes(pa.array([bytes(range(size)).decode()]), KEY).tolist() == [expected]


@given(
    texts=st.lists(st.text(max_size=40) | st.text("xé", min_size=LONG - 9, max_size=LONG + 9)), cut=st.integers(0, 9)
)
def test_a_text_has_one_hash_whatever_stands_beside_it(texts, cut):
    array = pa.array(texts, pa.string())
    alone = [int(text_hashes(pa.array([text]), KEY)[0]) for text in texts]
    assert text_hashes(array, KEY).tolist() == alone
    assert text_hashes(array[cut:], KEY).tolist() == alone[cut:]
    assert len(set(alone)) == len(set(texts))


def test_other_keys_give_other_hashes_to_short_and_long_texts():
    texts = pa.array(["", "a", "x" * LONG, "y" * 3 * LONG])
    assert not set(text_hashes(texts, KEY).tolist()) & set(text_hashes(texts, KEY[::-1]).tolist())
