"""A run as an RO-Crate of the Five Safes profile."""
