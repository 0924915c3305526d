"""The journal, for administrators."""
