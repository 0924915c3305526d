"""Plugins called: what they are lent, what they return, and what they say."""
