"""``ppdm-flow serve``."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ppdm_flow.cli.terminal.options import option
from ppdm_flow.cli.terminal.output import put, say

if TYPE_CHECKING:
    from ppdm_flow.page.settings import Settings

EXAMPLES = (
    "serve --policies policies --runs runs",
    "serve --policies policies --runs runs --tls",
    "serve --policies policies --runs runs --host 10.0.0.5 --tls-cert web.crt --tls-key web.key",
    "serve --policies policies --runs runs --behind-proxy 127.0.0.1 --name release.example.org",
)
_STATE = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "ppdm-flow" / "page"
_MEGABYTE = 2**20


def serve(
    policies: Annotated[Path, option("--policies", "FOLDER", "The folder of policies; a Git working tree or not.")],
    runs: Annotated[Path, option("--runs", "FOLDER", "Where runs are made and read.")],
    state: Annotated[
        Path,
        typer.Option(
            "--state",
            metavar="FOLDER",
            show_default="~/.local/state/ppdm-flow/page",
            help="The server's own: accounts, journal, uploads. Private, and of one server.",
        ),
    ] = _STATE,
    data: Annotated[
        list[Path] | None,
        option("--data", "FOLDER", "A folder beside that of policies whose files jobs read and write; repeatable."),
    ] = None,
    host: Annotated[str, option("--host", "ADDRESS", "Where to listen.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Where to listen; 0 takes any free one.")
    ] = 8471,
    name: Annotated[
        list[str] | None, option("--name", "HOSTNAME", "A name by which browsers reach the server; repeatable.")
    ] = None,
    tls: Annotated[
        bool, typer.Option("--tls", help="HTTPS with a certificate that the server makes; browsers ask once.")
    ] = False,
    tls_cert: Annotated[Path | None, option("--tls-cert", "FILE", "The certificate for HTTPS, as PEM.")] = None,
    tls_key: Annotated[Path | None, option("--tls-key", "FILE", "Its private key, as PEM.")] = None,
    behind_proxy: Annotated[
        str,
        option("--behind-proxy", "ADDRESS", "The one proxy that is trusted to use HTTPS and to name clients."),
    ] = "",
    oidc: Annotated[Path | None, option("--oidc", "FILE", "How people sign in by OpenID Connect, as TOML.")] = None,
    new_administrator: Annotated[
        bool, typer.Option("--new-administrator", help="Print a link that makes another one: the password is lost.")
    ] = False,
    upload_mb: Annotated[int, typer.Option("--upload-mb", min=1, help="The largest table to upload, in MB.")] = 2048,
    upload_hours: Annotated[
        float, typer.Option("--upload-hours", min=0.1, help="How long uploaded tables are kept.")
    ] = 24.0,
    param_env: Annotated[
        list[str] | None,
        option("--param-env", "VARIABLE", "A variable that `from_env` of policies may read here; repeatable."),
    ] = None,
    job_env: Annotated[
        list[str] | None,
        option("--job-env", "VARIABLE", "A variable that everybody's jobs know, such as PGPASSWORD; repeatable."),
    ] = None,
    database: Annotated[
        list[str] | None,
        option("--database", "HOST[:PORT]", "A database server that jobs may sign in to; no others; repeatable."),
    ] = None,
    bucket: Annotated[
        list[str] | None,
        option("--bucket", "NAME", "A bucket of an object store that jobs may reach; no others; repeatable."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="How many runs work at once.")] = 2,
) -> None:
    """Serve a page to stewards, approvers and guests: policies, runs, approvals, released tables.

    Every change that it makes is a verb of this program. Other machines reach it with TLS or behind a proxy only.

    Exit status: 0 it was stopped, 2 it cannot be started as asked, 3 it failed.
    """
    from ppdm_flow.page.extras import check_page  # noqa: PLC0415  # nothing of the page loads for other words

    check_page()
    from ppdm_flow.page.serving.server import serve as serve_page  # noqa: PLC0415  # imports what was looked for
    from ppdm_flow.page.settings import Settings  # noqa: PLC0415  # as above

    settings = Settings(
        policies=policies.absolute(),
        runs=runs.absolute(),
        state=state.absolute(),
        data=tuple(each.absolute() for each in data or ()),
        host=host,
        port=port,
        names=tuple(name or ()),
        tls_cert=tls_cert,
        tls_key=tls_key,
        own_certificate=tls,
        proxy=behind_proxy,
        oidc=oidc,
        new_administrator=new_administrator,
        secure=bool(tls or tls_cert or behind_proxy),
        upload_bytes=upload_mb * _MEGABYTE,
        upload_hours=upload_hours,
        param_variables=tuple(param_env or ()),
        job_variables=tuple(job_env or ()),
        databases=tuple(database or ()),
        buckets=tuple(bucket or ()),
        running_jobs=jobs,
    )
    serve_page(settings, partial(_ready, settings))


def _ready(settings: Settings, address: str, link: str | None) -> None:
    from ppdm_flow.page.services.jobs.keeper import can_confine  # noqa: PLC0415  # the page is there by now

    put(address)
    if link is not None:
        put(link)
        say("the second address makes an administrator, once, within an hour")
    if settings.own_certificate:
        from ppdm_flow.page.serving.tls import fingerprint  # noqa: PLC0415  # as above

        say(f"SHA-256 of the certificate, which browsers ask to trust: {fingerprint(settings)}")
    if not settings.secure:
        say("over HTTP a browser sends its session to all ports of this host, also those of other users: see `--tls`")
    if not can_confine():
        say("jobs are not confined here: a policy can read all files of this account, uploads of other people too")
    say("stop with Ctrl-C")
