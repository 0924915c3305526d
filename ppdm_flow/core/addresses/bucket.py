"""Where objects are in an object store, as a URL says it: read without the network, and never with credentials."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

SCHEMES = ("s3", "gs", "abfs")
_OURS = re.compile(rf"({'|'.join(SCHEMES)}):/{{1,2}}(.*)", re.DOTALL | re.IGNORECASE)
_NEAR = re.compile(r"(s3a|s3n|gcs|abfss|wasbs?|az|adl|https?|hdfs|ftp)://", re.IGNORECASE)
_QUERY = re.compile(r"\?[A-Za-z][A-Za-z0-9_.-]*=")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]")
_PARTITION = re.compile(r"([^=]+)=(.*)", re.DOTALL)
_LONGEST = 255
"""Bytes of a name that a file system on disk takes; an object is copied to a file of its name."""


class BucketAddressError(ValueError):
    """The URL says no address. Its text quotes nothing of the URL."""


@dataclass(frozen=True, slots=True)
class BucketAddress:
    """An object, a folder of objects or a glob of them: ``key`` has no ``/`` at its begin and end, and may be empty."""

    scheme: str
    bucket: str
    key: str = ""

    @property
    def url(self) -> str:
        """The address, with the values in names of partitions."""
        return f"{self.scheme}://{self.inside}"

    @property
    def shown(self) -> str:
        """The address for messages, without the values in names of partitions, which are values of the data."""
        return f"{self.scheme}://{'/'.join([self.bucket, *(_masked(name) for name in self.names)])}"

    @property
    def inside(self) -> str:
        """Bucket and key, as file systems of Arrow name objects."""
        return f"{self.bucket}/{self.key}" if self.key else self.bucket

    @property
    def names(self) -> tuple[str, ...]:
        """The key's parts."""
        return tuple(self.key.split("/")) if self.key else ()

    @property
    def name(self) -> str:
        """The last part."""
        return self.names[-1] if self.key else self.bucket

    def below(self, *names: str) -> BucketAddress:
        """Return the address of something below."""
        return BucketAddress(self.scheme, self.bucket, "/".join([*self.names, *names]))


def is_bucket(place: str | Path | None) -> bool:
    """Whether a text or path is meant as the URL of an object store, be it right or wrong."""
    text = str(place or "")
    return _OURS.match(text) is not None or _NEAR.match(text) is not None


def bucket_address(place: str | Path) -> BucketAddress:
    """Read ``s3://bucket/key``, ``gs://…`` or ``abfs://…``; a path has lost a ``/``. Raises BucketAddressError."""
    text = str(place)
    match = _OURS.fullmatch(text)
    if match is None:
        raise BucketAddressError("it begins with none of `s3://`, `gs://` and `abfs://`")
    rest = match[2]
    bucket, _, key = rest.removesuffix("/").partition("/")
    if "@" in bucket or ":" in bucket:
        raise BucketAddressError("it names a user, an account or a port before the bucket")
    if _QUERY.search(rest):
        raise BucketAddressError("it has a query, `?name=value`")
    if not _BUCKET.fullmatch(bucket):
        raise BucketAddressError("it names no bucket")
    address = BucketAddress(match[1].lower(), bucket, key)
    if not all(is_name(name) for name in address.names):
        raise BucketAddressError("a part of its path is empty, `.` or `..`, or no name that a file can have")
    return address


def is_name(name: str) -> bool:
    """Whether a part of a key can be the name of a file."""
    try:
        size = len(name.encode())
    except UnicodeError:
        return False
    return name not in ("", ".", "..") and "\0" not in name and size <= _LONGEST


def _masked(name: str) -> str:
    match = _PARTITION.fullmatch(name)
    return f"{match[1]}=…" if match else name
