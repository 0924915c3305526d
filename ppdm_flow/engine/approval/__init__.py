"""Runs that hold and wait for approvals: what they keep, who has to agree, and how they become releases."""
