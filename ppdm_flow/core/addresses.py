"""Addresses of data outside of local files: buckets, servers, and tables of Spark."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError

POSTGRESQL = "postgresql"
MYSQL = "mysql"
MSSQL = "mssql"
SNOWFLAKE = "snowflake"
BIGQUERY = "bigquery"
WAREHOUSES = (SNOWFLAKE, BIGQUERY)
"""Services that are reached by an account or a project, always encrypted."""
SCHEMES = ("postgresql", "postgres")
_DIALECTS = {
    "postgresql": POSTGRESQL,
    "postgres": POSTGRESQL,
    "mysql": MYSQL,
    "mariadb": MYSQL,
    "mssql": MSSQL,
    "sqlserver": MSSQL,
    "snowflake": SNOWFLAKE,
    "bigquery": BIGQUERY,
}
"""The scheme of a URL, and whose language the server speaks: MariaDB and MySQL have one protocol."""
MODES = ("disable", "prefer", "require", "verify-ca", "verify-full")
"""What of libpq's ``sslmode`` is known, weakest first."""
_PORTS = {POSTGRESQL: 5432, MYSQL: 3306, MSSQL: 1433, SNOWFLAKE: 443, BIGQUERY: 443}
_WORDS = ("sslmode", "sslrootcert", "connect_timeout", "host", "port")
_OWN_WORDS = {SNOWFLAKE: ("schema", "warehouse", "role", "connect_timeout"), BIGQUERY: ("location", "connect_timeout")}
"""The parameters of a URL, and those of the dialects that have others."""
_CONNECTION = frozenset(_WORDS)
_LOOPBACK = re.compile(r"127(\.[0-9]{1,3}){3}")
_SECRETS = re.compile(
    r"""\b(?:s3[an]?|gs|gcs|abfss?)://(?P<account>[^\s/@'"]+)@ | ://[^\s:@/'"]*:(?P<before>)
    | [?&](?:password|[\w-]*(?:_key|_token|_secret|-key|sig))=(?P<after>[^\s&\#'"},]+)""",
    re.VERBOSE | re.IGNORECASE,
)
"""A password in a URL of any kind, and a user in that of an object store; too much rather than too little.

``before`` is the place where a password begins that goes on to the last ``@`` before the end of the line or a quote.
"""
_END_OF_URL = re.compile(r"[\n'\"]|\Z")


# Where a database server is, as a URL says it: read without the network, and never with a password.


class AddressError(ValueError):
    """The URL says no address. Its text quotes nothing of the URL but names of parameters."""


class PasswordError(AddressError):
    """There is a password in the URL."""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A database on a server. ``host`` is a name, an address, or the folder of a Unix socket.

    ``user`` is None where the environment names it, ``connect_timeout`` in seconds. Of Snowflake ``host`` is the
    account, of BigQuery the project; ``words`` are their own parameters.
    """

    host: str
    database: str
    port: int = _PORTS[POSTGRESQL]
    user: str | None = None
    sslmode: str = "require"
    sslrootcert: str | None = None
    connect_timeout: int = 10
    dialect: str = POSTGRESQL
    words: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """Host and database: all that messages and reports say of it."""
        return f"{'localhost' if self.is_socket else self.host}/{self.database}"

    @property
    def is_socket(self) -> bool:
        """Whether it is a Unix socket on this machine."""
        return self.host.startswith("/")

    @property
    def is_local(self) -> bool:
        """Whether what is sent never leaves this machine."""
        return self.is_socket or is_loopback(self.host)

    @property
    def is_encrypted(self) -> bool:
        """Whether ``sslmode`` allows no connection without TLS."""
        return self.sslmode not in ("disable", "prefer")

    @property
    def is_verified(self) -> bool:
        """Whether ``sslmode`` asks for a certificate of a trusted authority."""
        return self.sslmode.startswith("verify")


def is_address(text: str, schemes: Iterable[str] = SCHEMES) -> bool:
    """Whether ``text`` is meant as the URL of a server, correct or not."""
    return text.lower().lstrip().startswith(tuple(f"{scheme}:" for scheme in schemes))


def is_database(text: str) -> bool:
    """Whether ``text`` is meant as the URL of any database server that is known."""
    return is_address(text, _DIALECTS)


def server_address(url: str) -> ServerAddress:
    """Read the address of a PostgreSQL server as :func:`database_address` does. Raises AddressError."""
    return _address(url, SCHEMES)


def database_address(url: str) -> ServerAddress:
    """Read ``postgresql://[user@]host[:port]/database[?sslmode=…]``, or ``mysql:``, ``mariadb:``, ``mssql:``.

    ``sslmode`` is ``require`` unless the URL says otherwise, and ``prefer`` on this machine. As in libpq, ``host`` and
    ``port`` may stand among the parameters: a host that begins with ``/`` is the folder of a Unix socket, of MySQL the
    socket itself. Raises AddressError.
    """
    return _address(url, tuple(_DIALECTS))


def _address(url: str, schemes: tuple[str, ...]) -> ServerAddress:
    try:
        parts = urlsplit(url)
        port = parts.port
        secret = parts.password
    except ValueError:
        raise AddressError("host or port cannot be read") from None
    dialect = _DIALECTS.get(parts.scheme, POSTGRESQL)
    parameters = _read_parameters(parts, _OWN_WORDS.get(dialect, _WORDS))
    if secret is not None:
        raise PasswordError("a password stands in it")
    if parts.scheme not in schemes:
        known = " or ".join(f"`{scheme}://`" for scheme in schemes if scheme != "postgres")
        raise AddressError(f"it does not begin with {known}")
    host, database = _host(parts, parameters), unquote(parts.path.removeprefix("/"))
    if not database or "/" in database or "\0" in database:
        raise AddressError(f"it names no database: `{parts.scheme}://HOST/DATABASE`")
    address = ServerAddress(
        host=host,
        database=database,
        port=_read_count(parameters["port"], "port", 65535) if "port" in parameters else port or _PORTS[dialect],
        user=unquote(parts.username) if parts.username else None,
        sslrootcert=parameters.get("sslrootcert"),
        connect_timeout=_read_count(parameters.get("connect_timeout", "10"), "connect_timeout", 600),
        dialect=dialect,
        words=tuple((name, value) for name, value in parameters.items() if name not in _CONNECTION),
    )
    return _protected(address, parameters.get("sslmode"))


def masked(text: str) -> str:
    """Return a text with the passwords of URLs in it hidden, every other character at its place."""
    characters = list(text)
    for start, end in _secret_spans(text):
        characters[start:end] = "*" * (end - start)
    return "".join(characters)


def passwords(text: str) -> set[str]:
    """Return the passwords of the URLs in a text, as they stand there."""
    return {text[start:end] for start, end in _secret_spans(text)}


def _secret_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where secrets begin and end. Linear: the end of a line and its last ``@`` are looked for once."""
    at, line_end, last_sign = 0, -1, -1
    while match := _SECRETS.search(text, at):
        start, at = match.span(match.lastgroup or 0)
        if match.lastgroup == "before":
            if start > line_end:
                line_end = next(_END_OF_URL.finditer(text, start)).start()
                last_sign = text.rfind("@", start, line_end)
            if last_sign <= start:  # no password: what follows the colon may begin another URL
                continue
            at = last_sign
        yield start, at


def _read_parameters(parts: SplitResult, known: tuple[str, ...]) -> Mapping[str, str]:
    """Return the parameters. Raises AddressError for those that are unknown or stand there twice."""
    try:
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise AddressError("its parameters cannot be read: `?name=value&name=value`") from None
    names = [name for name, _ in pairs]
    if "password" in names:
        raise PasswordError("a password stands in it")
    for name in names:
        if name not in known or names.count(name) > 1:
            what = "stands there twice" if name in known else f"is none of {', '.join(f'`{w}`' for w in known)}"
            raise AddressError(f"its parameter `{name[:40]}` {what}")
    if parts.fragment:
        raise AddressError("there is a `#` in it: write it as `%23`")
    return dict(pairs)


def _host(parts: SplitResult, parameters: Mapping[str, str]) -> str:
    host = parameters.get("host") or unquote(parts.hostname or "")
    if not host or "," in host or any(c.isspace() or not c.isprintable() for c in host):
        raise AddressError("it names no host, or more than one: `postgresql://HOST/DATABASE`")
    return host


def _protected(address: ServerAddress, mode: str | None) -> ServerAddress:
    if mode is None:
        mode = "prefer" if address.is_local else "require"
    if mode not in MODES:
        raise AddressError(f"its `sslmode` is none of {', '.join(f'`{m}`' for m in MODES)}")
    if address.sslrootcert is not None and not address.sslrootcert.startswith("/"):
        raise AddressError("its `sslrootcert` is no absolute path")
    if address.dialect == MSSQL and (address.sslrootcert is not None or address.is_socket):
        what = "its `sslrootcert`" if address.sslrootcert is not None else "a socket"
        raise AddressError(f"{what} is nothing to SQL Server, which trusts the authorities of the system")
    return replace(address, sslmode=mode)


def _read_count(text: str, name: str, most: int) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= most:
        raise AddressError(f"its `{name}` is not a whole number from 1 to {most}")
    return int(text)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    return host.lower() in ("localhost", "::1") or _LOOPBACK.fullmatch(host) is not None


# Where objects are in an object store, as a URL says it: read without the network, and never with credentials.


BUCKET_SCHEMES = ("s3", "gs", "abfs")
_OURS = re.compile(rf"({'|'.join(BUCKET_SCHEMES)}):/{{1,2}}(.*)", re.DOTALL | re.IGNORECASE)
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
    """Whether a text or path is meant as the URL of an object store, correct or not."""
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


# Tables that Spark reads, as `--data` names them: one of a session's catalog, of Delta or of Iceberg.


TABLE, DELTA, ICEBERG, JDBC = "table", "delta", "iceberg", "jdbc"
_KINDS = (TABLE, DELTA, ICEBERG, JDBC)
_ADDRESS = re.compile(rf"({'|'.join(_KINDS)}):(.*)", re.DOTALL)
_PASSWORD = re.compile(r":/{1,2}[^@]*:[^@]*@")
_TABLE_LONGEST = 200
_FRAME = "data.parquet"


@dataclass(frozen=True, slots=True)
class TableAddress:
    """A table: ``kind`` is ``table``, ``delta`` or ``iceberg``, ``name`` its name, or its path for Delta."""

    kind: str
    name: str

    @property
    def shown(self) -> str:
        """The address as it is given."""
        return f"{self.kind}:{self.name}"

    @property
    def file_name(self) -> str:
        """A name of one folder for a copy of the table."""
        last = PurePosixPath(self.name.replace("`", "")).name
        return last if last not in ("", "..") and "\0" not in last and len(last.encode()) <= _TABLE_LONGEST else _FRAME


def is_table(place: str | Path | None) -> bool:
    """Whether a text or path is meant as the address of a table, and is not the name of a file that is there."""
    return place is not None and _ADDRESS.match(str(place)) is not None and not os.path.lexists(place)


def place_of_data(text: str) -> Path | TableAddress:
    """Return what a text names: a table that Spark reads, or else a path. Raises UsageError (PPF957), without a quote.

    >>> place_of_data("table:shop.visits").name
    'shop.visits'
    """
    match = _ADDRESS.fullmatch(text)
    if match is None or not is_table(text):
        return Path(text)
    kind, name = match.groups()
    if kind == JDBC or _PASSWORD.search(name):
        what = "a table behind JDBC" if kind == JDBC else "an address with a password"
        advice = "read it in a session that has the driver and the password, and give the DataFrame to `ppdm_flow.run`"
        raise UsageError(Diagnostic("PPF957", f"{what} is not taken from the command line", help=advice))
    if not name.strip():
        advice = "say `table:NAME`, `delta:PATH` or `iceberg:NAME`"
        raise UsageError(Diagnostic("PPF957", f"`{kind}:` names no table", help=advice))
    return TableAddress(kind, name)


def refuse_table(place: str | Path | None) -> None:
    """Raise UsageError for the address of a table where no engine reads one: PPF954, or PPF957 without a quote."""
    if is_table(place) and isinstance(address := place_of_data(str(place)), TableAddress):
        text = f"`{address.shown}` is a table that only `run --engine spark` reads"
        raise UsageError(
            Diagnostic("PPF954", text, help="say `--engine spark`; other verbs take it exported to Parquet")
        )
