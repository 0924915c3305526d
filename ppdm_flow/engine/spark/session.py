"""The Spark session of a run: an existing one, one of Spark Connect, or one that is started for the run."""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError, UsageError
from ppdm_flow.core.version import VERSION
from ppdm_flow.engine.faults import run_fault
from ppdm_flow.engine.spark.farm import EXECUTORS, Farm
from ppdm_flow.engine.spark.work_folders import marked_folder, remove_left_folders

CONNECT = "sc://"
_LOCAL = ("local", "local-cluster")
_QUIET = "ERROR"
_PROBES = 4
_DRIVER = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_EXECUTOR = "-XX:+UseSerialGC"
"""Options of Java beside Python. A driver has too little to do for it to be worth compiling its code to the last; the
executors' groups, and the encryption of what they shuffle, take half the time then."""
_KEPT_BYTES = str(1 << 29)
"""Bytes that glibc keeps of what a Python worker gave back: the next fragment needs as much, page by page anew."""


@contextlib.contextmanager
def opened_session(master: str | None, name: str, given: Any = None) -> Iterator[Any]:
    """Give a session: that of ``master``, of ``SPARK_REMOTE``, or the one that is there; what it starts it stops.

    ``master`` is Spark's, or the address of Spark Connect, ``sc://host``. A session that is ``given`` is the one.
    Raises PluginError where Spark is missing, UsageError where no session can be had.
    """
    with _warned_only_by_us():
        session, started = _session(master, name) if given is None else (given, False)
        with contextlib.ExitStack() as stack:
            if started:
                if master is not None and master.startswith(_LOCAL[1]):
                    remove_left_folders()
                    stack.enter_context(marked_folder(session.sparkContext.applicationId))
                stack.callback(_stop, session)
            yield session


def _stop(session: Any) -> None:
    with contextlib.suppress(Exception):
        session.stop()


def _session(master: str | None, name: str) -> tuple[Any, bool]:
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415  # heavy, an extra
    except ImportError:
        raise PluginError(
            Diagnostic(
                "PPF954",
                "`--engine spark` needs Spark, which is not installed here",
                help="pip install 'ppdm_flow[spark]', and a Java 17; with Spark Connect the Java is the server's",
            )
        ) from None
    remote = master if master and master.startswith(CONNECT) else None
    if master is None:
        remote = os.environ.get("SPARK_REMOTE")
    active = None if master or remote else SparkSession.getActiveSession()
    if active is not None:
        return active, False
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        if remote:
            return SparkSession.builder.remote(remote).getOrCreate(), True
        builder = SparkSession.builder.appName(f"ppdm-flow {name}")
        for key, value in _settings(master).items():
            builder = builder.config(key, value)
        session = (builder.master(master) if master else builder).getOrCreate()
        session.sparkContext.setLogLevel(_QUIET)
    except Exception as error:  # noqa: BLE001  # Spark raises any error of its gateway
        text = f"no session of Spark could be had ({type(error).__name__})"
        advice = (
            "is there a Java 17 (JAVA_HOME)? Name a cluster with --master, or with SPARK_REMOTE a server of Spark"
            " Connect"
        )
        raise UsageError(Diagnostic("PPF954", text, help=advice)) from None
    return session, True


def _settings(master: str | None) -> dict[str, str]:
    """Return settings of a session that we start; a cluster's own are left to it."""
    settings = {"spark.ui.showConsoleProgress": "false"}
    if master is not None and master.startswith(_LOCAL):
        settings |= {
            "spark.ui.enabled": "false",
            "spark.authenticate": "true",
            "spark.authenticate.secret": secrets.token_hex(32),
            "spark.network.crypto.enabled": "true",
            "spark.io.encryption.enabled": "true",  # what is counted is shuffled over the disk
            "spark.shuffle.compress": "false",  # most of it are keys, which are random
            "spark.executor.extraJavaOptions": _EXECUTOR,
            "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": _KEPT_BYTES,
            "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": _KEPT_BYTES,
            "spark.driver.extraJavaOptions": _DRIVER,
        }
    return settings


@contextlib.contextmanager
def _warned_only_by_us() -> Iterator[None]:
    """Keep Spark's warnings about pandas, which no code of ours gives it, from the terminal."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"pyspark(\.|$)")
        yield


def check_executors(farm: Farm, folder: Path) -> None:
    """Hold the executors against this process: the same code, and the run's folder in sight. Raises RunError."""
    sign = folder / f"seen-{secrets.token_hex(8)}"
    sign.write_text("", encoding="utf-8")
    try:
        probes = list(farm.each(_look_around, [str(sign)] * max(_PROBES, farm.slots)))
    finally:
        sign.unlink(missing_ok=True)
    here = _versions()
    for versions, sees in probes:
        if versions != here:
            ours = ", ".join(f"{name} {here[name]}" for name, there in versions.items() if here[name] != there)
            theirs = ", ".join(f"{name} {there}" for name, there in versions.items() if here[name] != there)
            raise run_fault(
                "PPF955",
                f"an executor has {theirs}, and this process {ours}",
                advice=EXECUTORS,
            )
        if not sees:
            raise run_fault(
                "PPF956",
                f"an executor does not see `{folder.parent}`, where the run is made",
                advice="let --out name a folder that the driver and all executors share, or TMPDIR where"
                " that is an object store: the run is made there first",
            )


def _look_around(sign: str) -> tuple[dict[str, str], bool]:
    return _versions(), Path(sign).exists()


def _versions() -> dict[str, str]:
    return {"ppdm_flow": VERSION, "Python": ".".join(platform.python_version_tuple()[:2])}
