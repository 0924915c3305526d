"""Draws: the AES counter stream against NIST's vectors, and its addressing by row."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from ppdm_flow.core.draws import Draws, RunKey, key_stream

# NIST SP 800-38A, F.5.5 CTR-AES256.Encrypt
KEY = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
COUNTER = int("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", 16)
PLAIN = (
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
CIPHER = (
    "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
    "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"
)
ROWS = st.lists(st.integers(0, 10_000), min_size=0, max_size=60)


def naive(key: bytes, width: int, rows: list[int]) -> np.ndarray:
    """One call of the stream for each row."""
    out = np.empty((len(rows), width), dtype=np.uint64)
    for i, row in enumerate(rows):
        out[i] = key_stream(key, row * width, width)
    return out


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("count", [0, 1, 2, 2**15, 2**15 + 1, 100_001])
def test_long_stretches_are_one_stream(start, count):
    """What is enciphered some at a time is the same as at once."""
    counter = Cipher(algorithms.AES(KEY), modes.CTR(bytes(16))).encryptor()
    whole = np.frombuffer(counter.update(bytes(8 * (start + count) + 16)), dtype="<u8")
    words = key_stream(KEY, start, count)
    assert words.dtype == np.uint64
    assert (words == whole[start : start + count]).all()
    assert len(words) == count


def test_the_stream_is_nists_counter_mode():
    words = key_stream(KEY, COUNTER * 2, 8)
    stream = words.astype("<u8").tobytes()
    cipher = bytes(a ^ b for a, b in zip(bytes.fromhex(PLAIN), stream, strict=True))
    assert cipher.hex() == CIPHER


def test_words_are_read_little_endian():
    first = key_stream(KEY, COUNTER * 2, 1)[0]
    block = bytes.fromhex("0bdf7df1591716335e9a8b15c860c502")
    assert int(first) == int.from_bytes(block[:8], "little")


@given(start=st.integers(0, 1 << 40), count=st.integers(0, 50), skip=st.integers(0, 49))
def test_any_stretch_of_the_stream_is_the_same_words(start, count, skip):
    whole = key_stream(KEY, start, count)
    assert len(whole) == count
    assert (whole[skip:] == key_stream(KEY, start + skip, max(0, count - skip))).all()


@given(rows=ROWS, width=st.integers(0, 5))
def test_words_are_addressed_by_row(rows, width):
    draws = Draws(KEY, width)
    found = draws.words(np.array(rows, dtype=np.int64))
    assert found.shape == (len(rows), width)
    if width:
        assert (found == naive(KEY, width, rows)).all()


def test_rows_far_apart_and_far_up():
    rows = [0, 1, 5, 1 << 20, (1 << 20) + 1, 1 << 45, (1 << 45) + 7]
    assert (Draws(KEY, 3).words(np.array(rows)) == naive(KEY, 3, rows)).all()


def test_a_long_dense_run_crosses_the_stretches_it_is_made_in():
    rows = np.arange(1_000, 400_000, dtype=np.int64)
    whole = Draws(KEY, 2).words(rows)
    for i in (0, 1, 131_071, 131_072, 131_073, 262_144, len(rows) - 1):
        assert (whole[i] == key_stream(KEY, int(rows[i]) * 2, 2)).all()


def test_uniform_doubles_lie_in_the_half_open_interval_and_have_53_bits():
    draws = Draws(KEY, 2)
    rows = np.arange(50_000, dtype=np.int64)
    doubles = draws.uniform(rows)
    assert doubles.min() >= 0.0
    assert doubles.max() < 1.0
    assert (doubles * 2.0**53 == (draws.words(rows) >> np.uint64(11)).astype(np.float64)).all()


def test_uniform_doubles_fill_64_bins_evenly():
    counts = np.bincount((Draws(KEY, 1).uniform(np.arange(640_000)) * 64).astype(int).ravel(), minlength=64)
    statistic = ((counts - 10_000) ** 2 / 10_000).sum()
    assert statistic < chi2.isf(1e-6, 63)  # error probability 1e-6, on a fixed key


def test_steps_and_runs_have_streams_of_their_own():
    key = RunKey(bytes(range(32)))
    other = RunKey(bytes(range(1, 33)))
    streams = {k.step(s) for k in (key, other) for s in ("perturb", "shuffle", "perturb2")}
    assert len(streams) == 6
    assert key.step("perturb") == RunKey(bytes(range(32))).step("perturb")


def test_a_seed_always_gives_the_same_key():
    assert RunKey.from_seed("42") == RunKey.from_seed("42")
    assert RunKey.from_seed("42") != RunKey.from_seed("43")


def test_the_commitment_is_fixed_by_the_key_and_is_no_part_of_it():
    key = RunKey.from_seed("42")
    assert key.commitment == RunKey.from_seed("42").commitment
    assert key.secret.hex() != key.commitment
    assert key.commitment not in {key.step("a").hex(), key.step("").hex()}


def test_a_key_never_shows_itself():
    key = RunKey.from_seed("42")
    shown = f"{key!r} {key} {Draws(key.step('a'), 1)!r}"
    assert key.secret.hex() not in shown
    assert repr(key.secret) not in shown
    assert repr(key.step("a")) not in shown


def test_draws_travel_to_other_processes():
    draws = Draws(KEY, 2)
    rows = np.array([3, 9])
    assert (pickle.loads(pickle.dumps(draws)).words(rows) == draws.words(rows)).all()


@pytest.mark.parametrize("size", [0, 16, 31, 33])
def test_a_key_has_32_bytes(size):
    with pytest.raises(ValueError, match="32 bytes"):
        RunKey(bytes(size))


def test_further_attempts_are_streams_of_their_own():
    draws = Draws(KEY, 3)
    rows = np.array([0, 5, 1 << 40])
    found = {draws.words(rows).tobytes(), *(draws.again(i).words(rows).tobytes() for i in range(1, 4))}
    assert len(found) == 4
    assert (draws.again(2).words(rows) == Draws(KEY, 3).again(2).words(rows)).all()
    assert (draws.again(2).words(rows[1:]) == draws.again(2).words(rows)[1:]).all()
    assert draws.again(1).draws_per_row == 3
