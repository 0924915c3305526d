"""Connections to Snowflake and BigQuery through their ADBC drivers, with credentials from the environment alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ppdm_flow.core.addresses.server import BIGQUERY, ServerAddress, is_loopback
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.sdk.databases.faults import driver, fault, machine_fault, refuse_other_hosts, server_fault, unreachable
from ppdm_flow.sdk.key_file import refuse_shared

_SNOWFLAKE = "adbc.snowflake.sql."
_BIGQUERY = "adbc.bigquery.sql."
_LOGIN = "`ppdm-flow explain sql` says which variables of the environment are read"
_KINDS = (
    ("390100", "28000"),
    ("390144", "28000"),
    ("incorrect username or password", "28000"),
    ("jwt token is invalid", "28000"),
    ("could not find default credentials", "28000"),
    ("unauthenticated", "28000"),
    ("constructing client: credentials", "28000"),
    ("invalid_grant", "28000"),
    ("insufficient privileges", "42501"),
    ("permission denied", "42501"),
    ("accessdenied", "42501"),
    ("access denied", "42501"),
    ("does not exist or not authorized", "42P01"),
    ("not found: table", "42P01"),
    ("not found: dataset", "3F000"),
    ("invalid identifier", "42703"),
    ("unrecognized name", "42703"),
    ("syntax error", "42601"),
    ("invalidquery", "42601"),
    ("no active warehouse", "42601"),
)
"""What the services say, by their words: each driver gives other codes."""
_LOST = (
    "dial tcp",
    "no such host",
    "connection refused",
    "timeout",
    "deadline exceeded",
    "eof",
    "tls:",
    "x509:",
    "lookup ",
)


def connect(address: ServerAddress) -> tuple[Any, Any]:
    """Return the driver and a connection that commits each statement. Raises PpdmError."""
    refuse_other_hosts(address)
    if address.dialect == BIGQUERY:
        module, words = driver("adbc_driver_bigquery.dbapi", "bigquery", "BigQuery"), _bigquery(address)
    else:
        module, words = driver("adbc_driver_snowflake.dbapi", "snowflake", "Snowflake"), _snowflake(address)
    try:
        return module, module.connect(db_kwargs=dict(words), autocommit=True)
    except Exception as error:  # noqa: BLE001  # it may quote a credential
        raise warehouse_fault(address.name, error, connected=False) from None


def statement_words(address: ServerAddress) -> Mapping[str, str]:
    """Return what each statement is told."""
    if address.dialect != BIGQUERY:
        return {}
    query = f"{_BIGQUERY}query."
    return {f"{query}default_project_id": address.host, f"{query}default_dataset_id": address.database}


def warehouse_fault(place: str, error: Exception, *, connected: bool = True) -> PpdmError:
    """Return the error for what the service or the driver says: its texts may quote values."""
    text = str(error).lower()
    state = next((state for words, state in _KINDS if words in text), None)
    if state is not None:
        return server_fault(place, state, connected=connected)
    if any(words in text for words in ("x509:", "tls:")):
        return machine_fault("PPF475", f"no encrypted connection to the database `{place}` came about")
    if any(words in text for words in _LOST):
        return server_fault(place, None, connected=True) if connected else unreachable(place)
    return machine_fault("PPF479", f"the database `{place}` failed")


def _snowflake(address: ServerAddress) -> Mapping[str, str]:
    """Return the options of the driver. Raises DataError where a key file is open to others, or no login is known."""
    told = dict(address.words)
    client = f"{_SNOWFLAKE}client_option."
    words = {
        f"{_SNOWFLAKE}account": address.host,
        f"{_SNOWFLAKE}db": address.database,
        f"{client}app_name": "ppdm-flow",
        f"{client}login_timeout": f"{address.connect_timeout}s",
        f"{client}disable_telemetry": "true",
        f"{client}use_high_precision": "true",
        **{f"{_SNOWFLAKE}{name}": value for name, value in told.items()},
        **_snowflake_host(),
    }
    user = address.user or os.environ.get("SNOWFLAKE_USER")
    if not user:
        raise fault("PPF476", f"nobody is named who reads the database `{address.name}`", _LOGIN)
    words["username"] = user
    key = os.environ.get("SNOWFLAKE_PRIVATE_KEY_PATH")
    if key:
        refuse_shared(Path(key), "the private key")
        return {**words, f"{_SNOWFLAKE}auth_type": "auth_jwt", f"{client}jwt_private_key": key}
    password = os.environ.get("SNOWFLAKE_PASSWORD")
    if not password:
        raise fault("PPF476", f"there is no password for the database `{address.name}`", _LOGIN)
    return {**words, "password": password}


def _snowflake_host() -> Mapping[str, str]:
    """Return where the service is, if the environment says it; unencrypted it may only be on this machine."""
    host = os.environ.get("SNOWFLAKE_HOST")
    if not host:
        return {}
    words = {"host": host, "port": os.environ.get("SNOWFLAKE_PORT", "443"), "protocol": "https"}
    if is_loopback(host):
        words["protocol"] = os.environ.get("SNOWFLAKE_PROTOCOL", "https")
    return {f"{_SNOWFLAKE}uri.{name}": value for name, value in words.items()}


def _bigquery(address: ServerAddress) -> Mapping[str, str]:
    """Return the options of the driver. Raises DataError where the file of the credential is open to others."""
    words = {
        f"{_BIGQUERY}project_id": address.host,
        f"{_BIGQUERY}dataset_id": address.database,
        **{f"{_BIGQUERY}{name}": value for name, value in address.words},
    }
    file = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS")
    if not file:
        return {**words, f"{_BIGQUERY}auth_type": f"{_BIGQUERY}auth_type.auth_bigquery"}
    refuse_shared(Path(file), "the file of the credential")
    kind = f"{_BIGQUERY}auth_type.json_credential_file"
    return {**words, f"{_BIGQUERY}auth_type": kind, f"{_BIGQUERY}auth_credentials": file}
