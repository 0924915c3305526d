"""Candidates audited, alone and joined, and held against requirements and gates."""
