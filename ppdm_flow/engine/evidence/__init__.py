"""Signatures of a run: writes attestations beside its manifest, and checks them against the run."""
