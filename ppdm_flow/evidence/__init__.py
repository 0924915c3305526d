"""What is signed and by whom: envelopes, statements, keys and signers. Knows bytes and values, no policy and no run."""
