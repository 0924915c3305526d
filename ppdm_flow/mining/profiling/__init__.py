"""What the columns of a table look like: types, kinds of identifiers, and the roles that follow. All of it guesses."""
