"""A PostgreSQL server of our own, in a temporary folder, gone at the end."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PASSWORD = "zqsecret-p:w"
OWNER = "steward"
_FAST = ("fsync=off", "full_page_writes=off", "shared_buffers=16MB", "max_connections=20", "log_min_messages=panic")


class NoServerError(Exception):
    """There is no PostgreSQL here; the text says why."""


@dataclass
class Postgres:
    """A running server: ``url`` for a Unix socket (anybody may log in), ``tcp`` for a password."""

    home: Path
    port: int
    process: subprocess.Popen[bytes]
    account: dict[str, Any]
    binary: Path
    made: str = ""

    @classmethod
    def start(cls) -> Postgres:
        """Make a cluster and start it. Raises NoServerError where that cannot be."""
        binary, account = _binary(), _account()
        home = Path(tempfile.mkdtemp(prefix="ppdm-pg-"))
        secret = home / "secret"
        secret.write_text(PASSWORD)
        home.chmod(0o700)
        if "user" in account:
            for path in (home, secret):
                os.chown(path, account["user"], account["group"])
        words = ["--no-sync", "--encoding=UTF8", "--locale=C", f"--username={OWNER}", f"--pwfile={secret}"]
        words += ["--auth-local=trust", "--auth-host=scram-sha-256", "-D", str(home / "data")]
        done = subprocess.run([str(binary / "initdb"), *words], capture_output=True, cwd=home, check=False, **account)
        if done.returncode:
            shutil.rmtree(home, ignore_errors=True)
            raise NoServerError("initdb failed: " + done.stderr.decode(errors="replace").strip()[-200:])
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = cls(home, port, _serve(binary, home, port, account), account, binary)
        server.wait()
        return server

    def wait(self) -> None:
        """Wait until it answers."""
        ready = [str(self.binary / "pg_isready"), "-q", "-h", str(self.home), "-p", str(self.port)]
        until = time.monotonic() + 60
        while subprocess.run(ready, check=False).returncode:
            if time.monotonic() > until or self.process.poll() is not None:
                self.stop()
                raise NoServerError("it does not start")
            time.sleep(0.05)

    def url(self, database: str, words: str = "", user: str = OWNER) -> str:
        return f"postgresql://{user}@/{database}?host={self.home}&port={self.port}{words}"

    def tcp(self, database: str, words: str = "", user: str = OWNER, host: str = "127.0.0.1") -> str:
        return f"postgresql://{user}@{host}:{self.port}/{database}{words}"

    def sql(self, database: str, text: str) -> list[str]:
        """Carry out statements as the owner; returns the lines of the result."""
        words = ["-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-h", str(self.home), "-p", str(self.port)]
        done = subprocess.run(
            [str(self.binary / "psql"), *words, "-U", OWNER, "-d", database, "-c", text],
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()

    def database(self) -> str:
        """Return the one database of the tests, emptied: a new one costs eight megabyte of disk each time."""
        if not self.made:
            self.made = f"led{secrets.token_hex(4)}"
            self.sql("postgres", f"CREATE DATABASE {self.made}")
        end = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{self.made}'"
        self.sql("postgres", f"ALTER DATABASE {self.made} RESET ALL; {end}")
        self.sql(self.made, "SET client_min_messages = error; DROP SCHEMA IF EXISTS ppdm_flow CASCADE")
        return self.made

    def kill(self) -> None:
        """Stop at once, as if the machine lost its power."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(30)

    def restart(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(30)
        self.process = _serve(self.binary, self.home, self.port, self.account)
        self.wait()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.home, ignore_errors=True)


def _binary() -> Path:
    found = [shutil.which("initdb"), *sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)]
    for each in found:
        folder = Path(each).resolve().parent if each else None
        if folder is not None and all((folder / name).exists() for name in ("postgres", "pg_isready", "psql")):
            return folder
    raise NoServerError("no PostgreSQL is installed (initdb, postgres, pg_isready, psql)")


def _account() -> dict[str, Any]:
    """Who runs it: PostgreSQL refuses to be root."""
    if os.getuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    raise NoServerError("PostgreSQL refuses to run as root, and there is no other account")


def _serve(binary: Path, home: Path, port: int, account: dict[str, Any]) -> subprocess.Popen[bytes]:
    words = [str(binary / "postgres"), "-D", str(home / "data"), "-k", str(home), "-p", str(port)]
    words += ["-c", "listen_addresses=127.0.0.1", *(word for each in _FAST for word in ("-c", each))]
    return subprocess.Popen(words, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **account)
