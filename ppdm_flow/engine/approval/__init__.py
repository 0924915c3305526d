"""The release of held runs: their approvals, later entries of the ledger, and one rename."""
