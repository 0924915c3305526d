"""``ppdm-flow key``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ppdm_flow import api
from ppdm_flow.cli.terminal.options import option
from ppdm_flow.cli.terminal.output import put, say
from ppdm_flow.cli.terminal.password import key_password, new_password

EXAMPLES = (
    "key alice.key --comment alice --role data-owner",
    "key alice.key --comment alice --encrypt",
    "key alice.key --pem",
    "key alice.key --show",
)


def key(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The key's file.", show_default=False)],
    show: Annotated[
        bool, typer.Option("--show", help="Make no key: print the public part of the key in FILE, private or public.")
    ] = False,
    pem: Annotated[
        bool, typer.Option("--pem", help="Write the private key as PEM (PKCS8), not as OpenSSH does.")
    ] = False,
    encrypt: Annotated[
        bool,
        typer.Option("--encrypt", help="Encrypt the private key with a password, which signing asks for then."),
    ] = False,
    comment: Annotated[str, option("--comment", "TEXT", "Whose it is: the name in the entry, and in FILE.pub.")] = "",
    roles: Annotated[
        list[str] | None, option("--role", "ROLE", "A role of the entry; may be repeated. It can be added later.")
    ] = None,
) -> None:
    """Make an Ed25519 key that signs runs: FILE for its owner alone, FILE.pub for everybody.

    Prints the entry for the list of signers (signers.yaml). No file is ever overwritten. A key of `ssh-keygen -t
    ed25519` or `openssl genpkey -algorithm ed25519` does as well, with a password too. The password of `--encrypt` is
    asked for, twice, or read from the variable PPDM_KEY_PASSWORD.

    Exit status: 0 made or shown, 2 there is such a file already (to be shown, there is no key in it) or no password, 3
    it cannot be written.
    """
    if show:
        if pem or encrypt or comment or roles:
            raise typer.BadParameter("a key that is shown is as it is: give `--show` alone", param_hint="--show")
        pair = api.show_key(file, key_password)
        say(f"key id {pair.public.key_id}")
        put(pair.public.text)
        return
    if pem and encrypt:
        text = "in PEM a password protects too little: give `--encrypt` alone, which writes the key as OpenSSH does"
        raise typer.BadParameter(text, param_hint="--encrypt")
    secret = new_password if encrypt else None
    pair = api.make_key(file, pem=pem, comment=comment, roles=tuple(roles or ()), password=secret)
    say(f"made `{pair.path}`: keep it to yourself; `{pair.public_path}` is for everybody")
    put(pair.entry)
