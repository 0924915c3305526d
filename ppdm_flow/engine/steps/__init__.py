"""Carries out the steps; each reads the stream of the one before."""
