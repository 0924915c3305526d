"""URLs of PostgreSQL servers: what they say, and that no password of theirs is ever shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.addresses import AddressError, PasswordError, is_address, masked, passwords, server_address


@pytest.mark.parametrize(
    ("url", "host", "port", "database", "user", "mode", "name"),
    [
        ("postgresql://h/db", "h", 5432, "db", None, "require", "h/db"),
        ("postgres://u%40x@h:99/d%20b", "h", 99, "d b", "u@x", "require", "h/d b"),
        ("postgresql://localhost/db", "localhost", 5432, "db", None, "prefer", "localhost/db"),
        ("postgresql://[::1]:7/db?sslmode=verify-full", "::1", 7, "db", None, "verify-full", "::1/db"),
        ("postgresql://127.0.0.9/db?port=8", "127.0.0.9", 8, "db", None, "prefer", "127.0.0.9/db"),
        ("postgresql://u@/db?host=/run/pg", "/run/pg", 5432, "db", "u", "prefer", "localhost/db"),
        ("postgresql://%2Frun%2Fpg/db", "/run/pg", 5432, "db", None, "prefer", "localhost/db"),
    ],
)
def test_what_a_url_says(url, host, port, database, user, mode, name) -> None:
    found = server_address(url)
    assert (found.host, found.port, found.database, found.user, found.sslmode) == (host, port, database, user, mode)
    assert found.name == name


@pytest.mark.parametrize(
    "url",
    [
        "h/db",
        "mysql://h/db",
        "postgresql:h/db",
        "postgresql://h",
        "postgresql://h/",
        "postgresql://h/a/b",
        "postgresql:///db",
        "postgresql://a,b/db",
        "postgresql://h:0x/db",
        "postgresql://h:99999/db",
        "postgresql://h/db?sslmode=allow",
        "postgresql://h/db?sslmode=require&sslmode=disable",
        "postgresql://h/db?options=-csearch_path=x",
        "postgresql://h/db?sslrootcert=root.crt",
        "postgresql://h/db?connect_timeout=0",
        "postgresql://h/db?sslmode",
        "postgresql://h/db#x",
        "postgresql://[::1/db",
    ],
)
def test_a_url_that_says_no_address(url) -> None:
    with pytest.raises(AddressError):
        server_address(url)


SECRET = st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S"), exclude_characters="\"'"), min_size=1)


@given(SECRET)
def test_a_password_is_found_whatever_it_is(secret: str) -> None:
    url = f"postgresql://user:{secret}@host/db"
    with pytest.raises(AddressError) as caught:
        server_address(url)
    if len(secret) > 5:
        assert secret not in str(caught.value)
    shown = masked(f"ledger: {{url: '{url}', key: k}}")
    assert len(shown) == len(f"ledger: {{url: '{url}', key: k}}")
    assert f"user:{'*' * len(secret)}@host" in shown
    assert secret in passwords(f"url: {url}\n")


@pytest.mark.parametrize("url", ["postgresql://u:p@h/db", "postgresql://u:@h/db", "postgresql://h/db?password=p"])
def test_any_password_is_one_too_many(url) -> None:
    with pytest.raises(PasswordError):
        server_address(url)


def test_other_text_stays_as_it_is() -> None:
    text = "name: x\nsource: {path: 'a:b@c'}\nowner: me@x.example\nhelp: https://x.example/a?b=c\n"
    assert masked(text) == text
    assert passwords(text) == set()
    assert not is_address("releases.ledger")
    assert is_address("PostgreSQL:nonsense")
