"""The journal: who did what, and when; without values, never changed."""
