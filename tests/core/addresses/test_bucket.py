"""URLs of object stores: what is read, what is refused, and what is never quoted."""

from __future__ import annotations

from pathlib import Path

import pytest
from growth import growth

from ppdm_flow.core.addresses import BucketAddressError, bucket_address, is_bucket, masked, passwords

SECRET = "zqsecretzq"


@pytest.mark.parametrize(
    ("text", "bucket", "key"),
    [
        ("s3://bucket/in/whole.csv", "bucket", "in/whole.csv"),
        ("S3://bucket/in/", "bucket", "in"),
        ("gs://bucket/year=20?4/*.parquet", "bucket", "year=20?4/*.parquet"),
        ("abfs://con-tainer", "con-tainer", ""),
        ("s3:/bucket/as/a/path", "bucket", "as/a/path"),
        ("s3://my.bucket/ü b#c%20", "my.bucket", "ü b#c%20"),
    ],
)
def test_addresses(text: str, bucket: str, key: str) -> None:
    address = bucket_address(text)
    assert (address.bucket, address.key) == (bucket, key)
    assert bucket_address(Path(address.url)) == address == bucket_address(address.url)


@pytest.mark.parametrize(
    "text",
    [
        f"s3://AKIA:{SECRET}@bucket/x.csv",
        f"s3://{SECRET}@bucket/x.csv",
        f"s3://bucket:{SECRET}/x.csv",
        f"s3://bucket/x.csv?secret_key={SECRET}",
        f"s3://bucket/a/x.csv?region=x&token={SECRET}",
        "s3://",
        "s3:///key",
        "s3://b",
        "s3://bucket//key",
        "s3://bucket/a//b",
        "s3://bucket/a/../b",
        "s3://bucket/./b",
        "s3://bucket/a\0b",
        f"s3://bucket/{'x' * 300}",
        f"s3a://bucket/{SECRET}",
        f"https://{SECRET}.s3.amazonaws.com/x.csv",
    ],
)
def test_what_is_refused_is_not_quoted(text: str) -> None:
    assert is_bucket(text)
    with pytest.raises(BucketAddressError) as caught:
        bucket_address(text)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("text", ["x.csv", "s3/x.csv", "data/s3:/x.csv", "./s3:/x", "C:/x.csv", "", None, "as3:/x"])
def test_paths_of_this_machine_are_no_addresses(text: str | None) -> None:
    assert not is_bucket(text)


def test_values_of_partitions_are_not_shown() -> None:
    address = bucket_address("s3://bucket/in/name=Anna/part-0.csv")
    assert address.shown == "s3://bucket/in/name=…/part-0.csv"
    assert "Anna" in address.url


@pytest.mark.parametrize("name", ["password", "secret_key", "aws_session_token", "access_key", "x-amz-sig"])
def test_secrets_in_the_query_of_a_url_are_masked(name: str) -> None:
    text = f"path: s3://bucket/x.csv?{name}={SECRET}&a=b"
    assert SECRET not in masked(text)
    assert masked(text).endswith("&a=b")
    assert passwords(text) == {SECRET}
    assert masked("path: part-?.csv") == "path: part-?.csv"


def test_hiding_passwords_is_linear() -> None:
    """A text of openings of URLs without a password took the square of its length, and no thread could go on."""
    assert growth(lambda size: masked("://:" * size), 1_000, 16_000) < 60
    assert growth(lambda size: passwords("://u:p@h " * size), 1_000, 16_000) < 60


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("postgresql://u:p@ss@host/d", {"p@ss"}),
        ("a://:b://u:pw@host", {"b://u:pw"}),
        ("x: 'a://u:one@h', y: \"b://v:two@h\"\nz: c://w:three@h", {"one", "two", "three"}),
        ("mail a@b, see https://host:80/x\nand a@b", set()),
        ("https://host:80/x 'a@b'", set()),
        ("s3://KEY@bucket/x.csv", {"KEY"}),
        ("a://u:@h", set()),
    ],
)
def test_passwords_end_at_the_last_sign_of_a_line_or_quote(text: str, hidden: set[str]) -> None:
    assert passwords(text) == hidden
    shown = masked(text)
    assert len(shown) == len(text)
    assert not any(secret in shown for secret in hidden)
