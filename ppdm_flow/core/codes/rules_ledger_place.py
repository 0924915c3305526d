"""PPF531 to PPF534: where the release ledger of a policy is."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF531",
        "a ledger without one place",
        "`ledger` needs either `path`, or `url` together with `key`.",
        "A ledger that is in two places, or in none, remembers nothing for sure. The key of one in a database is at no"
        " natural place, and all who use the ledger need the same.",
        "Say `path` for a file, or `url` and `key` for a database. Remove what a template says with `path: null`.",
        bad="ledger: {url: postgresql://db.example/ledger, subject: patient}",
        good="ledger: {url: postgresql://db.example/ledger, key: secure/releases.key, subject: patient}",
    ),
    CodePage(
        "PPF532",
        "a URL of no database",
        "`ledger.url` is not of the form `postgresql://[user@]host[:port]/database[?name=value]`.",
        "Nothing can be asked of a server that is not found. What can be said after `?` is `sslmode` (`disable`,"
        " `prefer`, `require`, `verify-ca`, `verify-full`), `sslrootcert` (an absolute path), `connect_timeout` in"
        " seconds, `port`, and `host`, which may be the folder of a Unix socket.",
        "Write it in that form; characters such as `/`, `#` and `@` within a name as `%2F`, `%23` and `%40`.",
        bad="ledger: {url: db.example/ledger, key: releases.key}",
        good="ledger: {url: postgresql://db.example/ledger, key: releases.key}",
    ),
    CodePage(
        "PPF533",
        "a password in a policy",
        "`ledger.url` holds a password, be it written there or come from a param.",
        "A policy is read by many, and its resolved form lies beside every release.",
        "Leave it out. It is looked for in the environment variable PGPASSWORD, then in the file that PGPASSFILE names,"
        " or `~/.pgpass`, with lines `host:port:database:user:password`, readable by its owner only.",
        bad="ledger: {url: 'postgresql://releases:secret@db.example/ledger', key: releases.key}",
        good="ledger: {url: postgresql://releases@db.example/ledger, key: releases.key}",
    ),
    CodePage(
        "PPF534",
        "a ledger across an open network",
        "`sslmode` is `disable` or `prefer`, and the server is another machine.",
        "Whoever listens in between may read who was released, as keyed hashes, and change what the ledger says."
        " Without `sslmode` it is `require`: encrypted, but whoever answers is believed to be the server.",
        "Say `sslmode=verify-full`, with `sslrootcert=/path` where the server's certificate is of an authority of your"
        " own.",
        bad="ledger: {url: 'postgresql://db.example/ledger?sslmode=disable', key: releases.key}",
        good="ledger: {url: 'postgresql://db.example/ledger?sslmode=verify-full', key: releases.key}",
    ),
)
