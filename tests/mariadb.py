"""A MariaDB server of our own, in a temporary folder, gone at the end."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PASSWORD = "zqsecret-m:y"
USER = "steward"
_SMALL = ("innodb-buffer-pool-size=16M", "innodb-log-file-size=8M", "innodb-flush-log-at-trx-commit=0", "skip-log-bin")


class NoServerError(Exception):
    """There is no MariaDB here; the text says why."""


@dataclass
class MariaDb:
    """A running server; ``url`` is over TCP, for a user with a password."""

    home: Path
    port: int
    process: subprocess.Popen[bytes]
    account: dict[str, Any]

    @classmethod
    def start(cls) -> MariaDb:
        """Make a data directory and start a server on it. Raises NoServerError where that cannot be."""
        programs = [shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin") for name in _PROGRAMS]
        if None in programs:
            raise NoServerError("no MariaDB is installed (mariadbd, mariadb-install-db, mariadb)")
        account = _account()
        home = Path(tempfile.mkdtemp(prefix="ppdm-my-"))
        if account:
            os.chown(home, account["user"], account["group"])
        words = ["--no-defaults", f"--datadir={home}/data", "--auth-root-authentication-method=normal"]
        words += ["--skip-test-db", f"--tmpdir={home}", "--innodb-log-file-size=8M"]
        done = subprocess.run([str(programs[1]), *words], capture_output=True, cwd=home, check=False, **account)
        if done.returncode:
            shutil.rmtree(home, ignore_errors=True)
            raise NoServerError("mariadb-install-db failed: " + done.stderr.decode(errors="replace").strip()[-200:])
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = cls(home, port, _serve(home, port, account), account)
        server.wait()
        server.sql("", f"CREATE DATABASE clinic; CREATE USER '{USER}'@'%' IDENTIFIED BY '{PASSWORD}'")
        server.sql("", f"GRANT ALL ON clinic.* TO '{USER}'@'%'")
        return server

    def wait(self) -> None:
        until = time.monotonic() + 60
        while True:
            try:
                self.sql("", "SELECT 1")
            except subprocess.CalledProcessError as error:
                if time.monotonic() > until or self.process.poll() is not None:
                    self.stop()
                    raise NoServerError("it does not start") from error
                time.sleep(0.05)
            else:
                return

    def url(self, database: str = "clinic", words: str = "", user: str = USER) -> str:
        return f"mysql://{user}@127.0.0.1:{self.port}/{database}{words}"

    def sql(self, database: str, text: str) -> list[str]:
        """Carry out statements as root; returns the lines of the result."""
        words = ["mariadb", "--no-defaults", "-N", "-B", f"--socket={self.home}/socket", "-uroot", database]
        own = {name: value for name, value in os.environ.items() if name != "MYSQL_PWD"}
        words = [word for word in words if word]
        done = subprocess.run(words, input=text, capture_output=True, text=True, check=True, env=own)
        return done.stdout.splitlines()

    def kill(self) -> None:
        """Stop at once, as if the machine lost its power."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def restart(self) -> None:
        if self.process.poll() is None:
            self.kill()
        self.process = _serve(self.home, self.port, self.account)
        self.wait()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.home, ignore_errors=True)


_PROGRAMS = ("mariadbd", "mariadb-install-db", "mariadb")


def _account() -> dict[str, Any]:
    """Who runs it: MariaDB refuses to be root."""
    if os.getuid() != 0:
        return {}
    for name in ("mysql", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise NoServerError("MariaDB refuses to run as root, and there is no other account")


def _serve(home: Path, port: int, account: dict[str, Any]) -> subprocess.Popen[bytes]:
    program = shutil.which("mariadbd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    words = [str(program), "--no-defaults", f"--datadir={home}/data", f"--socket={home}/socket", f"--port={port}"]
    words += ["--bind-address=127.0.0.1", f"--pid-file={home}/pid", f"--tmpdir={home}", *(f"--{w}" for w in _SMALL)]
    return subprocess.Popen(words, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **account)
