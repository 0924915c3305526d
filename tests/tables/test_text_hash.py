"""The hashes of texts are keyed BLAKE2b, wherever in an array a text stands."""

from __future__ import annotations

import hashlib

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.tables.text_hash import text_hashes

KEY = bytes(range(16))


@given(texts=st.lists(st.text(max_size=40)), cut=st.integers(0, 9))
def test_a_text_has_one_hash_whatever_stands_beside_it(texts, cut):
    array = pa.array(texts, pa.string())
    wanted = [
        int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8, key=KEY).digest(), "little") for text in texts
    ]
    assert text_hashes(array, KEY).tolist() == wanted
    assert text_hashes(array[cut:], KEY).tolist() == wanted[cut:]


def test_many_texts_and_other_keys():
    texts = pa.array([f"text {number}" for number in range(70_000)])
    hashes = text_hashes(texts, KEY)
    assert len(set(hashes.tolist())) == len(texts)
    assert not set(hashes.tolist()) & set(text_hashes(texts, KEY[::-1]).tolist())
