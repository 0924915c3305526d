"""PPF920 to PPF929: what leaves, or lies open, beside the cells of a release."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF920",
        "a key that others may read",
        "A file that holds a key or a password (of pseudonyms, of the ledger's hashes, of the ledger's server) can be"
        " read, written or executed by its group or by everybody.",
        "Whoever reads the key undoes the pseudonyms, or finds people in the ledger.",
        "`chmod 600` the file. If it lay open for long, take a new key.",
        bad="$ openssl rand -hex 32 > study.key && ppdm-flow run policy.yaml    # a new file is readable by all",
        good="$ (umask 077; openssl rand -hex 32 > study.key) && ppdm-flow run policy.yaml",
    ),
)
