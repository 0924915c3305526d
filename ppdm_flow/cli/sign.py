"""``ppdm-flow sign``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ppdm_flow import api
from ppdm_flow.cli.terminal.options import RunPath, option
from ppdm_flow.cli.terminal.output import put, say
from ppdm_flow.cli.terminal.password import key_password

EXAMPLES = (
    "sign runs/hospital/RUN --key alice.key --role data-owner",
    "sign runs/hospital/RUN --key alice.key --role data-owner --release medical",
)


def sign(
    run: RunPath,
    key: Annotated[
        Path, option("--key", "FILE", "The private key: Ed25519, of OpenSSH or PEM, readable by you alone.")
    ],
    role: Annotated[str, option("--role", "ROLE", "In which role you sign, such as data-owner or privacy-officer.")],
    releases: Annotated[
        list[str] | None, option("--release", "NAME", "Sign this release alone; may be repeated. All if left out.")
    ] = None,
) -> None:
    """Sign the releases of a run: the requirements, the measured figures, and the released bytes.

    Each release has an envelope of its own in `attestations/` beside the manifest, and a copy in its folder for its
    recipients. Every file is hashed first: a file that has changed since it was judged is not signed.
    `verify --signers` shows who signed what. The password of an encrypted key is asked for, or read from the variable
    PPDM_KEY_PASSWORD.

    Exit status: 0 signed, 2 the key cannot be used, there is no such run or release, or it may not be signed
    (withheld or changed), 3 it cannot be written.
    """
    done = api.sign(run, key, role, tuple(releases or ()), key_password)
    before = [each.release for each in done.releases if each.already_signed]
    if before:
        say(f"signed before with this key as `{role}`, and left as it is: {', '.join(f'`{name}`' for name in before)}")
    put(done.text)
