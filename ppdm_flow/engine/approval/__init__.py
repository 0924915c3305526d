"""The release of held runs: who has to agree, what the ledger learned since, and one rename."""
