"""Signatures of a run: writing attestations beside its manifest, and holding them against the run."""
