"""Signing keys of people, each under a passphrase that the server does not keep."""

from __future__ import annotations

import os
import secrets
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from sqlite3 import IntegrityError, Row

from ppdm_flow.api.key import KeyPair
from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.evidence.key_files import PUBLIC, is_encrypted
from ppdm_flow.evidence.keys import PublicKey
from ppdm_flow.evidence.malformed import MalformedError
from ppdm_flow.page.services.accounts.passwords import LEAST_LENGTH, MOST_LENGTH
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.bounded import CHECKS
from ppdm_flow.page.services.jobs.job import JobState, VerbJob
from ppdm_flow.page.services.jobs.jobs import Jobs
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.storage.database import PageDatabase
from ppdm_flow.sdk.spec import PASSWORD_VARIABLE

SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS keys (account INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,"
        " owner TEXT NOT NULL, folder TEXT NOT NULL UNIQUE, job TEXT NOT NULL, brought INTEGER NOT NULL,"
        " since TEXT NOT NULL, public TEXT UNIQUE, fault TEXT NOT NULL DEFAULT '')"
    ),
)
_WRONG = "PPF961"
_COMMENT = 100


# People's signing keys: made and opened by the verb `key`, used by `sign` and `run --sign`.


@dataclass(frozen=True, slots=True)
class SigningAccess:
    """What a job needs to sign with somebody's key: its file, and the environment with the passphrase."""

    key: Path
    environment: Mapping[str, str] = field(repr=False)

    @property
    def words(self) -> tuple[str, str]:
        """The words that have ``run`` sign what it makes."""
        return ("--sign", str(self.key))


class SigningKeys:
    """All keys of a server, one a person. The file is encrypted; the passphrase is known to its owner alone."""

    def __init__(self, database: PageDatabase, folder: Path, jobs: Jobs, now: Callable[[], datetime] = utc_now) -> None:
        self._database, self._folder, self._jobs, self._now = database, folder.absolute(), jobs, now
        self._lock = threading.RLock()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        known = {row["folder"] for row in database.rows("SELECT folder FROM keys")}
        for place in [each for each in folder.iterdir() if each.name not in known]:
            shutil.rmtree(place, ignore_errors=True)

    def of(self, user: User) -> OwnKey | None:
        """Return somebody's key; None where they have none."""
        with self._lock:
            row = self._database.row("SELECT * FROM keys WHERE account = ?", user.id)
            if row is not None and row["public"] is None and not row["fault"]:
                self._settle(row)
                row = self._database.row("SELECT * FROM keys WHERE account = ?", user.id)
        return None if row is None else self._own(row)

    def make(self, user: User, passphrase: str) -> None:
        """Have a key made under a passphrase. Raises RefusalError where there is one, or the passphrase is none."""
        fault = passphrase_fault(passphrase)
        if fault:
            raise RefusalError(fault, 400)
        comment = "".join(letter for letter in user.name if letter.isprintable())[:_COMMENT]
        with self._lock:
            place = self._new_place(user, brought=False)
            self._begin(user, place, ("key", str(place / FILE), "--encrypt", f"--comment={comment}"), passphrase)

    def bring(self, user: User, text: str, passphrase: str) -> None:
        """Take a key that somebody has, and have it opened once. Raises RefusalError where it is not encrypted."""
        data = "".join(f"{line}\n" for line in text.strip().splitlines()).encode()
        if not is_passphrase(passphrase):
            raise RefusalError("keys.passphrase_unusable", 400)
        try:
            encrypted = CHECKS.run(is_encrypted, data)  # of other kinds of keys all numbers are tested
        except DataError:
            raise RefusalError("keys.no_key", 400) from None
        if not encrypted:
            raise RefusalError("keys.not_encrypted", 400)
        with self._lock:
            place = self._new_place(user, brought=True)
            with os.fdopen(os.open(place / FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
            self._begin(user, place, ("key", str(place / FILE), "--show"), passphrase)

    def delete(self, user: User) -> None:
        """Delete somebody's key. What it signed stays signed."""
        own = self.of(user)
        if own is None:
            return
        if own.state is KeyState.MAKING and own.job:
            self._jobs.cancel(own.job)
        with self._database.changing() as connection:
            connection.execute("DELETE FROM keys WHERE account = ?", (user.id,))
        shutil.rmtree(own.folder, ignore_errors=True)

    def signing(self, user: User, passphrase: str) -> SigningAccess:
        """Return what a job needs to sign for somebody. Raises RefusalError where their key is not ready."""
        own = self.of(user)
        if own is None or own.state is not KeyState.READY:
            raise RefusalError("keys.not_ready")
        if not is_passphrase(passphrase):
            raise RefusalError("keys.passphrase_unusable", 400)
        return SigningAccess(own.path, {PASSWORD_VARIABLE: passphrase})

    def _new_place(self, user: User, *, brought: bool) -> Path:
        """Return a folder for a key, in place of one that failed. Raises RefusalError where there is a key."""
        own = self.of(user)
        if own is not None and own.state is KeyState.FAILED:
            self.delete(user)
        place = self._folder / secrets.token_hex(16)
        since = self._now().astimezone(UTC).isoformat(timespec="seconds")
        try:
            with self._database.changing() as connection:
                connection.execute(
                    "INSERT INTO keys (account, owner, folder, job, brought, since) VALUES (?, ?, ?, '', ?, ?)",
                    (user.id, user.name, place.name, brought, since),
                )
        except IntegrityError:
            raise RefusalError("keys.there_is_one") from None
        place.mkdir(mode=0o700)
        return place

    def _begin(self, user: User, place: Path, words: tuple[str, ...], passphrase: str) -> None:
        secret = {PASSWORD_VARIABLE: passphrase}
        try:
            job = self._jobs.add(user, words, kind="key", about=user.name, environment=secret)
        except RefusalError:
            self.delete(user)
            raise
        with self._database.changing() as connection:
            connection.execute("UPDATE keys SET job = ? WHERE folder = ?", (job.id, place.name))

    def _settle(self, row: Row) -> None:
        """Write down what became of a key, once its job is over."""
        job = self._job(row["job"])
        if job is not None and not job.state.is_over:
            return
        public = None if job is None else _public(job, self._folder / row["folder"], brought=bool(row["brought"]))
        fault = "" if public else _fault(job)
        try:
            self._write(row, public, fault)
        except IntegrityError:
            public = None
            self._write(row, None, "keys.taken")
        if public is None:
            shutil.rmtree(self._folder / row["folder"], ignore_errors=True)

    def _write(self, row: Row, public: PublicKey | None, fault: str) -> None:
        with self._database.changing() as connection:
            connection.execute(
                "UPDATE keys SET public = ?, fault = ? WHERE folder = ?",
                (None if public is None else public.text, fault, row["folder"]),
            )

    def _job(self, job: str) -> VerbJob | None:
        try:
            return self._jobs.get(job)
        except LookupError:
            return None

    def _own(self, row: Row) -> OwnKey:
        state = KeyState.FAILED if row["fault"] else KeyState.READY if row["public"] else KeyState.MAKING
        public = None if row["public"] is None else PublicKey.parse(row["public"])
        since = datetime.fromisoformat(row["since"])
        return OwnKey(row["owner"], state, self._folder / row["folder"], row["job"], since, public, row["fault"])


def _public(job: VerbJob, place: Path, *, brought: bool) -> PublicKey | None:
    """Return the public part of a key that a job made, beside it, or opened, as it printed it."""
    if job.state is not JobState.DONE or job.exit_code != 0:
        return None
    try:
        if brought:
            return PublicKey.parse(job.output)
        return PublicKey.parse((place / f"{FILE}.pub").read_text(encoding="utf-8"))
    except (OSError, UnicodeError, MalformedError):
        return None


def _fault(job: VerbJob | None) -> str:
    return "keys.wrong_passphrase" if job is not None and _WRONG in job.talk else "keys.not_made"


FILE = "key"
"""The name of a private key in its folder."""


class KeyState(StrEnum):
    """Whether a key can sign."""

    MAKING = "making"
    """It is being made, or opened for the first time to see whether its passphrase is right."""
    READY = "ready"
    FAILED = "failed"
    """It could not be made or opened, and there is no file of it any more."""


@dataclass(frozen=True, slots=True)
class OwnKey:
    """A key and its owner; ``public`` is None until it is ready. ``fault`` is the key of a text that says what failed.

    ``job`` is the id of the job that makes or opens it.
    """

    owner: str
    state: KeyState
    folder: Path
    job: str
    since: datetime
    public: PublicKey | None = None
    fault: str = ""

    @property
    def path(self) -> Path:
        """The private key, encrypted."""
        return self.folder / FILE

    @property
    def public_path(self) -> Path:
        """The public key that was made with it."""
        return self.folder / f"{FILE}{PUBLIC}"

    @property
    def entry(self) -> str:
        """The entry for a list of signers, without roles: the keeper of the list adds them."""
        return "" if self.public is None else KeyPair(self.path, None, self.public, self.owner).entry


def passphrase_fault(passphrase: str) -> str:
    """Return the key of a text that says what is wrong with a new passphrase; empty where nothing is."""
    if len(passphrase) < LEAST_LENGTH:
        return "keys.passphrase_short"
    return "" if is_passphrase(passphrase) else "keys.passphrase_unusable"


def is_passphrase(text: str) -> bool:
    """Whether a process can be given it: not empty, of one line, not without end."""
    return 0 < len(text) <= MOST_LENGTH and text.isprintable()
