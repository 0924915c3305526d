"""Profiles the columns of a table: types, kinds of identifiers, and roles. All of these are guesses."""
