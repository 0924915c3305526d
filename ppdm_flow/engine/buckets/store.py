"""Objects of one bucket: listed, stamped, copied to private files, written, read back."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ppdm_flow.core.addresses import BucketAddress, BucketAddressError, bucket_address
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, PpdmError, UsageError
from ppdm_flow.engine.faults import output_fault

_CHUNK = 8 << 20
_REFUSED = re.compile(
    r"ACCESS_DENIED|HTTP status 40[13]|INVALID_ACCESS_KEY|SIGNATURE|FORBIDDEN|not authori[sz]ed", re.IGNORECASE
)
_NO_BUCKET = re.compile(r"NO_SUCH_BUCKET|ContainerNotFound|bucket .{0,40}not (found|exist)", re.IGNORECASE)
_SILENT = re.compile(r"NETWORK_CONNECTION|timeout|timed out|SLOW_DOWN|could not (resolve|connect)", re.IGNORECASE)
_MARKS = ("etag", "versionid", "version-id", "generation", "x-amz-version-id")
_SECONDS = "PPDM_BUCKET_TIMEOUT"
BUCKETS = "PPDM_BUCKETS"
"""The variable with the buckets that may be reached, as ``NAME`` between commas: any without it."""
_CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "abfs": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}


@dataclass(frozen=True, slots=True)
class Stamp:
    """The stamp of an object, which changes with its content: its size, its time, and its ETag or version.

    ``time`` is in nanoseconds since 1970, where the store tells one. In a listing there are no ``marks``.
    """

    size: int
    time: int | None
    marks: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True)
class Store:
    """The object store of an address. ``fault`` is what is raised where it fails."""

    address: BucketAddress
    fault: type[PpdmError] = DataError
    system: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Make the client. Nothing is asked of the network but what the client itself asks."""
        _refuse_other_buckets(self.address)
        with self._asking(self.address):
            object.__setattr__(self, "system", _file_system(self.address))

    def check_bucket(self) -> None:
        """Raise the fault where there is no such bucket, or it refuses to be looked at."""
        bucket = BucketAddress(self.address.scheme, self.address.bucket)
        with self._asking(bucket):
            there = self.system.get_file_info(bucket.inside).type
        if there.name == "NotFound":
            raise self.fault(Diagnostic("PPF466", f"there is no bucket `{bucket.shown}`"))

    def stamp(self, address: BucketAddress) -> Stamp | None:
        """Return the stamp of an object, or None where there is none."""
        with self._asking(address):
            info = self.system.get_file_info(address.inside)
            if not info.is_file:
                return None
            try:
                with self.system.open_input_stream(address.inside, compression=None) as stream:
                    metadata: Mapping[Any, Any] = stream.metadata() or {}
            except FileNotFoundError:
                return None
        marks = {_text(key).lower(): value for key, value in metadata.items()}
        return Stamp(info.size, info.mtime_ns, tuple((m, bytes(marks[m])) for m in _MARKS if m in marks))

    def listing(self, folder: BucketAddress) -> tuple[str, ...]:
        """Return the names of all objects below a folder, relative to it. Raises the fault for what is no name."""
        return tuple(sorted(self.entries(folder)))

    def entries(self, folder: BucketAddress) -> Mapping[str, Stamp]:
        """Return all objects below a folder, by their names relative to it."""
        from pyarrow import fs  # noqa: PLC0415  # heavy, and only for object stores

        with self._asking(folder):
            selector = fs.FileSelector(folder.inside, recursive=True, allow_not_found=True)
            infos = [info for info in self.system.get_file_info(selector) if info.is_file]
        return {info.path.removeprefix(f"{folder.inside}/"): Stamp(info.size, info.mtime_ns) for info in infos}

    def entry(self, address: BucketAddress) -> Stamp | None:
        """Return an object as a listing has it; None where there is none."""
        with self._asking(address):
            info = self.system.get_file_info(address.inside)
        return Stamp(info.size, info.mtime_ns) if info.is_file else None

    def fetch(self, address: BucketAddress, file: Path) -> Stamp:
        """Copy an object to a new private file. Raises the fault where it is not whole, or is replaced meanwhile."""
        before = self.stamp(address)
        if before is None:
            raise self.fault(Diagnostic("PPF701", f"cannot read `{address.shown}`: there is no such object"))
        size = 0
        with _writing(), os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
            for chunk in self._chunks(address):
                size += len(chunk)
                copy.write(chunk)
        if self.stamp(address) != before:
            raise self.replaced(address)
        if size != before.size:
            raise self.fault(
                Diagnostic("PPF467", f"`{address.shown}` ends too early: {size:,} of {before.size:,} bytes")
            )
        return before

    def sha256(self, address: BucketAddress) -> str:
        """Return the hash of an object's bytes, read back."""
        digest = hashlib.sha256()
        for chunk in self._chunks(address):
            digest.update(chunk)
        return digest.hexdigest()

    def write(self, address: BucketAddress, file: Path) -> None:
        """Write a file as an object."""
        with (
            file.open("rb") as content,
            self._asking(address),
            self.system.open_output_stream(address.inside, compression=None) as stream,
        ):
            while chunk := content.read(_CHUNK):
                stream.write(chunk)

    def delete(self, address: BucketAddress) -> None:
        """Delete an object."""
        with self._asking(address):
            self.system.delete_file(address.inside)

    def delete_folder(self, address: BucketAddress) -> None:
        """Delete all objects below."""
        with self._asking(address):
            self.system.delete_dir(address.inside)

    def replaced(self, address: BucketAddress) -> PpdmError:
        """Return the error for an object that is not what it was."""
        return self.fault(Diagnostic("PPF724", f"`{address.shown}` was changed while it was being read"))

    def _chunks(self, address: BucketAddress) -> Iterator[bytes]:
        with self._asking(address):
            stream = self.system.open_input_stream(address.inside, compression=None)
        with self._asking(address), stream:
            while chunk := stream.read(_CHUNK):
                yield chunk

    @contextmanager
    def _asking(self, address: BucketAddress) -> Iterator[None]:
        """Turn a client's exception into the fault, without its text: servers quote requests."""
        try:
            yield
        except (PpdmError, GeneratorExit):
            raise
        except Exception as error:  # noqa: BLE001  # each client raises what it likes
            raise self.fault(_diagnose(address, str(error), type(error).__name__)) from None


def address_of(place: str | Path) -> BucketAddress:
    """Return the address that a path on the command line means. Raises UsageError, which quotes nothing of it."""
    try:
        return bucket_address(place)
    except BucketAddressError as error:
        raise UsageError(Diagnostic("PPF465", f"the URL of an object store cannot be used: {error}")) from None


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise output_fault(error, "the private copy of an object") from None


def _diagnose(address: BucketAddress, said: str, kind: str) -> Diagnostic:
    """Say what is wrong, in words of our own."""
    place, store = f"`{address.shown}`", f"`{address.scheme}://{address.bucket}`"
    if _NO_BUCKET.search(said):
        return Diagnostic("PPF466", f"there is no bucket {store}")
    if _REFUSED.search(said):
        help_ = f"credentials come from the environment only: {_CREDENTIALS[address.scheme]}"
        return Diagnostic("PPF466", f"the object store refuses access to {place}", help=help_)
    if _SILENT.search(said):
        help_ = f"the environment names the endpoint; {_SECONDS} is how many seconds a silent one is waited for"
        return Diagnostic("PPF466", f"the object store does not answer for {place}", help=help_)
    return Diagnostic("PPF466", f"the object store fails for {place} ({kind})")


def _file_system(address: BucketAddress) -> Any:
    """Return Arrow's client, with endpoint and credentials of the environment."""
    from pyarrow import fs  # noqa: PLC0415  # heavy, and only for object stores

    seconds = _seconds()
    match address.scheme:
        case "s3":
            endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or None
            region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or None
            if region is None:
                region = "us-east-1" if endpoint else fs.resolve_s3_region(address.bucket)
            return fs.S3FileSystem(
                endpoint_override=endpoint,
                region=region,
                request_timeout=seconds,
                connect_timeout=seconds,
                allow_delayed_open=True,  # a small object is written by one request
                retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=3),
            )
        case "gs":
            return fs.GcsFileSystem(retry_time_limit=timedelta(seconds=3 * seconds), **_emulator())
        case _:
            account = os.environ.get("AZURE_STORAGE_ACCOUNT_NAME") or os.environ.get("AZURE_STORAGE_ACCOUNT")
            if not account:
                text = "the environment names no account of Azure"
                raise DataError(Diagnostic("PPF466", text, help="set AZURE_STORAGE_ACCOUNT_NAME"))
            key = os.environ.get("AZURE_STORAGE_ACCOUNT_KEY") or None
            return fs.AzureFileSystem(account, account_key=key, **_azure_endpoint())


def _refuse_other_buckets(address: BucketAddress) -> None:
    """Raise DataError where the environment names buckets, and not this one: it would be asked as this machine."""
    named = os.environ.get(BUCKETS)
    if named is None or address.bucket in named.split(","):
        return
    text = f"the bucket `{address.bucket}` is none of those that may be used here"
    help_ = "the operator of this server names it: `serve --bucket NAME`"
    raise DataError(Diagnostic("PPF491", text, help=help_))


def _azure_endpoint() -> Mapping[str, Any]:
    """Return where the environment says that Azure's store is, as its command line reads it: the account is no part."""
    place = os.environ.get("AZURE_STORAGE_SERVICE_ENDPOINT")
    if not place:
        return {}
    parts = urlsplit(place)
    both = {"storage_authority": parts.netloc, "storage_scheme": parts.scheme or "https"}
    return {f"{kind}_{name}": value for name, value in both.items() for kind in ("blob", "dfs")}


def _emulator() -> Mapping[str, Any]:
    """Return where the environment says that a stand-in for Google's store is, as Google's own libraries read it."""
    place = os.environ.get("STORAGE_EMULATOR_HOST")
    if not place:
        return {}
    scheme, _, host = place.rpartition("://")
    return {"anonymous": True, "scheme": scheme or "http", "endpoint_override": host.rstrip("/")}


def _seconds() -> float:
    try:
        given = float(os.environ.get(_SECONDS, "30"))
    except ValueError:
        given = -1.0
    if not 0 < given <= 3600:
        raise UsageError(Diagnostic("PPF466", f"{_SECONDS} is no number of seconds from 1 to 3600"))
    return given


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
