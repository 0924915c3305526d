"""PPF621 to PPF629: a release ledger in PostgreSQL, in a run."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

_POLICY = "ledger: {url: postgresql://releases@db.example/ledger, key: releases.key}"

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF621",
        "PostgreSQL without its driver",
        "The ledger has a `url`, and the driver that speaks to PostgreSQL is an extra that is not installed.",
        "Without the ledger nobody can say what this and earlier releases tell together, so nothing is released.",
        "Install it: `pip install 'ppdm_flow[sql]'`.",
        bad=f"{_POLICY}    # without the extra",
        good="$ pip install 'ppdm_flow[sql]'",
    ),
    CodePage(
        "PPF622",
        "a ledger's server that does not answer",
        "No connection to the server of the ledger came about: its name is unknown, it refuses, it is starting or full,"
        " or it did not answer in time (`connect_timeout`).",
        "Without the ledger nobody can say what this and earlier releases tell together, so nothing is released.",
        "See that the server runs and can be reached from here, and run again.",
        bad="ledger: {url: postgresql://db.exmaple/ledger, key: releases.key}",
        good="ledger: {url: postgresql://db.example/ledger, key: releases.key}",
    ),
    CodePage(
        "PPF623",
        "a login that the ledger's server refuses",
        "The server of the ledger answers, and refuses the user: a wrong password or none, no such user or database, or"
        " a rule of the server (`pg_hba.conf`).",
        "The ledger tells who was released; it is not open to everybody.",
        "Give the password in the variable PGPASSWORD, or in `~/.pgpass` (PGPASSFILE names another file) as a line"
        " `host:port:database:user:password`. The user is that of the URL, else PGUSER, else that of the system.",
        bad=f"{_POLICY}    # and no password anywhere",
        good='$ PGPASSWORD="$(pass show ledger)" ppdm-flow run policy.yaml',
    ),
    CodePage(
        "PPF624",
        "no trusted encryption to the ledger",
        "The server of the ledger speaks no TLS where `sslmode` asks for it, or its certificate is not to be trusted.",
        "Somebody in between could read who was released, or say that nothing was.",
        "Switch TLS on in the server. With `verify-ca` and `verify-full` name the authority of its certificate:"
        " `sslrootcert=/path/root.crt`; with `verify-full` the host must be the certificate's.",
        bad=(
            "ledger: {url: 'postgresql://10.0.0.7/ledger?sslmode=verify-full', key: releases.key}    #"
            " its certificate: db.example"
        ),
        good=(
            "ledger: {url:"
            " 'postgresql://db.example/ledger?sslmode=verify-full&sslrootcert=/etc/ledger/root.crt',"
            " key: releases.key}"
        ),
    ),
    CodePage(
        "PPF625",
        "rights that are missing in the ledger",
        "The user may not read or write the ledger's tables (schema `ppdm_flow`), or make them (`--create`), or the"
        " server is a copy that only reads.",
        "A release that cannot be written down would be forgotten by the next one, so it is none.",
        "Grant the user USAGE on the schema and SELECT, INSERT, UPDATE and DELETE on its tables; to make them"
        " CREATE on the database. Name the main server, not a copy of it.",
        bad="$ psql ledger -c 'GRANT SELECT ON ALL TABLES IN SCHEMA ppdm_flow TO releases'",
        good="$ psql ledger -c 'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ppdm_flow TO releases'",
    ),
    CodePage(
        "PPF626",
        "a ledger's server that fails",
        "The connection to the server of the ledger broke, or the server refused what it was asked: it was stopped, its"
        " disk is full, it took too long.",
        "Nothing was released: what others wrote down in the meantime would not be known.",
        "Run again once the server is well. Its own log says more, under the five characters of SQLSTATE given here.",
        bad="$ pg_ctl stop    # while a run is judged",
        good="$ ppdm-flow run policy.yaml    # once it is up again",
    ),
    CodePage(
        "PPF627",
        "a ledger that others hold",
        "Another run has kept the ledger to itself for an hour. Only one at a time is judged: what it is compared with"
        " must stay what it is.",
        "Two runs judged at once would not know of each other.",
        "Wait for the other run. One whose machine is gone is found out by the server after a minute or so.",
        bad="$ ppdm-flow run policy.yaml    # while another one has been at it for an hour",
        good="$ ppdm-flow run policy.yaml    # when that is over",
    ),
    CodePage(
        "PPF628",
        "a release that may be in the ledger",
        "The connection to the ledger's server broke just when the release was written down, so that nobody knows"
        " whether it was.",
        "Nothing was released. If it is in the ledger, it is there as pending, and counts as released until it is"
        " dropped.",
        "`ppdm-flow ledger URL` lists it, and `--forget NUMBER` drops a pending release that never was.",
        bad="$ pg_ctl stop -m immediate    # at the wrong moment",
        good="$ ppdm-flow ledger postgresql://releases@db.example/ledger --key releases.key --forget 3",
    ),
    CodePage(
        "PPF629",
        "a password file that cannot be read",
        "The file with the password of the ledger's server (`~/.pgpass`, or what PGPASSFILE names) cannot be read, or"
        " is no UTF-8 text.",
        "Without the password nobody is let into the ledger.",
        "Name a file that is there, and that the user who runs this may read.",
        bad="$ PGPASSFILE=nowhere ppdm-flow run policy.yaml",
        good="$ PGPASSFILE=~/.pgpass ppdm-flow run policy.yaml",
    ),
)
