"""What forms say of signing: a passphrase, which goes to the job that needs it and nowhere else."""

from __future__ import annotations

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.services.keys.keys import SigningAccess

PASSPHRASE = "passphrase"  # noqa: S105  # the name of a field
AS_AUTHOR = "as_author"


def signing_as_author(call: Call) -> SigningAccess | None:
    """Return what a run needs to be signed by whoever starts it; None where the form does not ask for that.

    The fields are those of ``sign_as_author`` in ``keys/signing.html``. Its ``words`` go among those of ``run``, its
    ``environment`` to the job. Raises RefusalError where the key is not ready.
    """
    if call.text(AS_AUTHOR) != "yes":
        return None
    return call.site.keys.signing(call.user, call.text(PASSPHRASE))
