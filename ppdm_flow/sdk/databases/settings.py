"""Settings for drivers: address of the server, encryption, user and password.

A policy has only the URL, without a password: that comes from the environment or a private file.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import ssl
from collections.abc import Mapping, Sequence
from configparser import ConfigParser
from configparser import Error as ConfigError
from pathlib import Path
from typing import Any

from ppdm_flow.core.addresses import BIGQUERY, MSSQL, MYSQL, SNOWFLAKE, ServerAddress, is_loopback
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.sdk.databases.faults import fault, refuse_other_hosts
from ppdm_flow.sdk.key_file import refuse_shared

FREE_TDS = "FreeTDS"
_MICROSOFT = re.compile(r"ODBC Driver (\d+) for SQL Server")
_SNOWFLAKE = "adbc.snowflake.sql."
_BIGQUERY = "adbc.bigquery.sql."
_LOGIN = "`ppdm-flow explain sql` says which variables of the environment are read"


def driver_settings(address: ServerAddress, odbc_drivers: Sequence[str] = ()) -> dict[str, Any]:
    """Return the settings for the driver of a server.

    Parameters
    ----------
    address
        The server and how it is to be encrypted.
    odbc_drivers
        Those that are installed, for SQL Server.

    Returns
    -------
    PostgreSQL: parameters of libpq, which looks for the password by itself. MySQL: arguments of ``pymysql.connect``.
    SQL Server: attributes of ODBC. Snowflake and BigQuery: options of a database of ADBC.

    Raises
    ------
    DataError
        Where the host may not be signed in to (PPF491), a file with a password cannot be read (PPF629) or others than
        its owner may read it (PPF920), or there is no login (PPF476).
    PluginError
        Where no driver for SQL Server is installed, or none that does what ``sslmode`` asks for (PPF723).
    """
    refuse_other_hosts(address)
    if address.dialect == MSSQL:
        return {**_odbc_server(address, odbc_drivers), **_odbc_login(address)}
    if address.dialect == MYSQL:
        return {**_mysql_server(address), **_mysql_login(address)}
    if address.dialect == SNOWFLAKE:
        return _snowflake(address)
    return _bigquery(address) if address.dialect == BIGQUERY else _libpq(address)


def _libpq(address: ServerAddress) -> dict[str, Any]:
    _check_password_file()
    words = {
        "host": address.host,
        "port": str(address.port),
        "dbname": address.database,
        "sslmode": address.sslmode,
        "connect_timeout": str(address.connect_timeout),
        "keepalives_idle": "30",
        "keepalives_interval": "10",
        "keepalives_count": "3",
        "tcp_user_timeout": "330000",
        "application_name": "ppdm-flow",
        "client_encoding": "UTF8",
    }
    if address.user is not None:
        words["user"] = address.user
    root = address.sslrootcert or (_authorities() if address.is_verified else None)
    return words if root is None else {**words, "sslrootcert": root}


def _authorities() -> str:
    """Return the file of the authorities that the system trusts."""
    paths = ssl.get_default_verify_paths()
    return next((p for p in (paths.cafile, paths.openssl_cafile) if p is not None and Path(p).is_file()), "system")


def _check_password_file() -> None:
    """Raise DataError where others may read the password file, or nobody can: libpq would only leave it aside."""
    if "PGPASSWORD" in os.environ:
        return
    named = os.environ.get("PGPASSFILE")
    path = Path(named) if named else Path("~/.pgpass").expanduser()
    if named or path.exists():
        _private_text(path)


def _private_text(path: Path) -> str:
    """Return the text of a file that only its owner may read. Raises DataError."""
    refuse_shared(path, "the password file")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise fault("PPF629", f"the password file `{path}` cannot be read") from None


def _mysql_server(address: ServerAddress) -> dict[str, Any]:
    if address.is_socket:
        return {"unix_socket": address.host}
    where = {"host": address.host, "port": address.port}
    if not address.is_encrypted:
        return {**where, "ssl_disabled": address.sslmode == "disable"}
    context = ssl.create_default_context(cafile=address.sslrootcert)
    context.check_hostname = address.sslmode == "verify-full"
    if not address.is_verified and address.sslrootcert is None:
        context.verify_mode = ssl.CERT_NONE
    return {**where, "ssl": context}


def _mysql_login(address: ServerAddress) -> dict[str, Any]:
    """Return the URL's user, MYSQL_PWD, and what ``~/.my.cnf`` says beside: nothing of that file but the login."""
    file = Path("~/.my.cnf").expanduser()
    said: Mapping[str, str] = {}
    if file.is_file():
        refuse_shared(file, "the password file")
        parser = ConfigParser(allow_no_value=True, strict=False, interpolation=None)
        with contextlib.suppress(ConfigError, OSError, UnicodeDecodeError):
            parser.read(file, encoding="utf-8")
        said = {k: (v or "").strip("\"'") for k, v in parser["client"].items()} if parser.has_section("client") else {}
    own = ""
    with contextlib.suppress(KeyError, OSError):
        own = getpass.getuser()
    password = os.environ.get("MYSQL_PWD", said.get("password", ""))
    return {"user": address.user or said.get("user") or own, "password": password, "database": address.database}


def _odbc_server(address: ServerAddress, installed: Sequence[str]) -> dict[str, Any]:
    own = sorted((int(match[1]), name) for name in installed if (match := _MICROSOFT.fullmatch(name)))
    if own:
        return {
            "DRIVER": own[-1][1],
            "SERVER": f"tcp:{address.host},{address.port}",
            "Encrypt": "yes" if address.is_encrypted else "no",
            "TrustServerCertificate": "no" if address.is_verified else "yes",
            "ApplicationIntent": "ReadOnly",
        }
    if FREE_TDS not in installed:
        text = "SQL Server needs an ODBC driver, and none is installed"
        advice = "install Microsoft's `msodbcsql18`, or FreeTDS (in Debian `tdsodbc`)"
        raise PluginError(Diagnostic("PPF723", text, help=advice))
    if address.is_verified:
        text = f"`sslmode={address.sslmode}` needs Microsoft's ODBC driver: FreeTDS does not check certificates"
        raise PluginError(Diagnostic("PPF723", text, help="install `msodbcsql18`, or say `sslmode=require`"))
    encryption = {"disable": "off", "prefer": "request"}.get(address.sslmode, "require")
    about = {"SERVER": address.host, "PORT": str(address.port), "TDS_Version": "7.4", "ClientCharset": "UTF-8"}
    return {"DRIVER": FREE_TDS, **about, "Encryption": encryption}


def _odbc_login(address: ServerAddress) -> dict[str, Any]:
    """Return user and password as `sqlcmd` finds them, and a file; without a user, the system's login (Kerberos)."""
    about = {"DATABASE": address.database, "APP": "ppdm-flow"}
    user = address.user or os.environ.get("SQLCMDUSER")
    if not user:
        return {"Trusted_Connection": "yes", **about}
    password = os.environ.get("SQLCMDPASSWORD")
    named = os.environ.get("SQLCMDPASSWORDFILE")
    if password is None and named:
        password = _private_text(Path(named).expanduser()).partition("\n")[0].rstrip("\r")
    return {"UID": user, "PWD": password or "", **about}


def _snowflake(address: ServerAddress) -> dict[str, Any]:
    client = f"{_SNOWFLAKE}client_option."
    words = {
        f"{_SNOWFLAKE}account": address.host,
        f"{_SNOWFLAKE}db": address.database,
        f"{client}app_name": "ppdm-flow",
        f"{client}login_timeout": f"{address.connect_timeout}s",
        f"{client}disable_telemetry": "true",
        f"{client}use_high_precision": "true",
        **{f"{_SNOWFLAKE}{name}": value for name, value in address.words},
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


def _snowflake_host() -> dict[str, str]:
    """Return where the service is, if the environment says it; unencrypted it may only be on this machine."""
    host = os.environ.get("SNOWFLAKE_HOST")
    if not host:
        return {}
    words = {"host": host, "port": os.environ.get("SNOWFLAKE_PORT", "443"), "protocol": "https"}
    if is_loopback(host):
        words["protocol"] = os.environ.get("SNOWFLAKE_PROTOCOL", "https")
    return {f"{_SNOWFLAKE}uri.{name}": value for name, value in words.items()}


def _bigquery(address: ServerAddress) -> dict[str, Any]:
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
