"""The list of signers (``signers.yaml``): who may sign, in which roles, with which key."""
