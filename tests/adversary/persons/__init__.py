"""Policies that count people: persons have several rows, and an adversary knows some of them."""
