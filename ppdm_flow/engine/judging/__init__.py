"""Audits candidates, alone and joined, and judges them by requirements and gates."""
