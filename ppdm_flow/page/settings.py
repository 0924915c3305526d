"""What a server of the page is started with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Settings:
    """Folders, addresses and limits of one server.

    ``policies`` is a folder of policies, a Git working tree or not; ``runs`` is where runs are made and read;
    ``state`` is private to the server: accounts, journal, uploads, what jobs print. None lies inside of another.
    """

    policies: Path
    runs: Path
    state: Path
    data: tuple[Path, ...] = ()
    """Folders, beside that of policies, whose files jobs may read and write: data, ledgers."""
    host: str = "127.0.0.1"
    port: int = 8471
    names: tuple[str, ...] = ()
    """Names under which browsers reach the server, beside its own address: requests to others are refused."""
    tls_cert: Path | None = None
    tls_key: Path | None = None
    own_certificate: bool = False
    """Whether the server makes the certificate itself: no authority signs it, and browsers ask whether to trust it."""
    proxy: str = ""
    """The address of a proxy that talks HTTPS to browsers: it alone is believed what it says of who asks."""
    oidc: Path | None = None
    """The file that says how people sign in by OpenID Connect."""
    new_administrator: bool = False
    """Whether a link that makes an administrator is printed though there is one: nobody knows the password any more."""
    secure: bool = False
    """Whether browsers reach the server by HTTPS: cookies are for HTTPS alone then."""
    session_minutes: int = 8 * 60
    idle_minutes: int = 60
    password_memory_kib: int = 32 * 1024
    """Memory that the hash of a password takes: what makes guessing dear."""
    password_rounds: int = 3
    history_days: int = 90
    """How long earlier texts of policies, and removed ones, can be had back."""
    policy_bytes: int = 1_000_000
    form_bytes: int = 2 * 2**20
    """The largest form of somebody who is signed in; each of its fields has a limit in characters."""
    connections: int = 512
    """How many browsers' connections are open at once; one more is told to come back later."""
    head_seconds: float = 15.0
    """How long a request's head may take, from the first byte of the connection on."""
    least_bytes_a_second: int = 2_048
    """How fast a body must come, beyond the time for its head, and an answer be read."""
    stop_seconds: int = 10
    """How long requests may go on when the server is told to stop."""
    upload_bytes: int = 2 * 2**30
    upload_hours: float = 24.0
    """How long an uploaded table is kept, unless its owner removes it earlier."""
    uploads_a_person: int = 20
    upload_bytes_a_person: int = 8 * 2**30
    upload_bytes_in_all: int = 64 * 2**30
    free_bytes: int = 2**30
    """What stays free on disks: an upload that would need it is refused, and a job that takes it is stopped."""
    unpacked_bytes: int = 8 * 2**30
    """How much a packed upload may unpack to."""
    unpacked_ratio: int = 200
    """How many times its own size a packed upload may unpack to; small ones may have more."""
    upload_columns: int = 2_000
    """Columns of an uploaded table: forms and pictures have a line for each."""
    param_variables: tuple[str, ...] = ()
    """The variables of the server's environment that params of policies may read: the others are its own."""
    job_variables: tuple[str, ...] = ()
    """The variables of the server's environment that jobs know, such as the password of a database."""
    databases: tuple[str, ...] = ()
    """The hosts of the databases that jobs may sign in to, as ``HOST`` or ``HOST:PORT``."""
    buckets: tuple[str, ...] = ()
    """The buckets of object stores that jobs may reach, by name."""
    running_jobs: int = 2
    waiting_jobs: int = 20
    own_jobs: int = 5
    """Jobs of one person that wait or run."""
    job_minutes: int = 6 * 60
    """How long a job may take until it is stopped."""
    job_output_bytes: int = 16 * 2**20
    job_memory_bytes: int = 0
    """Memory of one job; 0: three quarters of the machine's."""
    job_file_bytes: int = 32 * 2**30
    """The largest file that a job may write."""
    job_days: int = 3
    """How long what a job printed is kept."""

    table_rows: int = 20_000_000
    """The largest released table that guests read page by page; larger ones are downloaded."""
    table_bytes: int = 32 * 2**30
    """The disk that copies of released tables take; those that nobody opened for the longest time go first."""
    table_memory_mb: int = 512
    """What the process that makes a copy holds in memory; it sorts the rest on disk."""
    table_seconds: int = 3_600
    """Processor time that making a copy may take."""
    table_readers: int = 4
    """How many pages of tables are read at once; others wait."""

    @property
    def database(self) -> Path:
        """The file with accounts, sessions, journal and jobs."""
        return self.state / "page.sqlite3"

    @property
    def journal_key(self) -> Path:
        """The file with the key of the journal's chain."""
        return self.state / "journal.key"

    @property
    def own_certificate_files(self) -> tuple[Path, Path]:
        """The files of the certificate that the server makes itself, and of its key."""
        return self.state / "tls.crt", self.state / "tls.key"

    @property
    def hierarchies(self) -> Path:
        """The folder with hierarchies that people are making, and counts of their uploads' values."""
        return self.state / "hierarchies"

    @property
    def uploads(self) -> Path:
        """The folder with uploaded tables, of which nothing is ever served."""
        return self.state / "uploads"

    @property
    def jobs(self) -> Path:
        """The folder with what jobs print."""
        return self.state / "jobs"

    @property
    def keys(self) -> Path:
        """The folder with people's signing keys, each encrypted."""
        return self.state / "keys"

    @property
    def tables(self) -> Path:
        """The folder with released tables in the form from which pages of them are read."""
        return self.state / "tables"
