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
    host: str = "127.0.0.1"
    port: int = 8471
    secure: bool = False
    """Whether browsers reach the server by HTTPS: cookies are for HTTPS alone then."""
    session_minutes: int = 8 * 60
    idle_minutes: int = 60
    history_days: int = 90
    """How long earlier texts of policies, and removed ones, can be had back."""
    form_bytes: int = 2 * 2**20
    upload_bytes: int = 2 * 2**30
    running_jobs: int = 2
    waiting_jobs: int = 20

    @property
    def database(self) -> Path:
        """The file with accounts, sessions, journal and jobs."""
        return self.state / "page.sqlite3"

    @property
    def uploads(self) -> Path:
        """The folder with uploaded tables, of which nothing is ever served."""
        return self.state / "uploads"

    @property
    def jobs(self) -> Path:
        """The folder with what jobs print."""
        return self.state / "jobs"

    @property
    def tables(self) -> Path:
        """The folder with released tables in the form from which pages of them are read."""
        return self.state / "tables"
