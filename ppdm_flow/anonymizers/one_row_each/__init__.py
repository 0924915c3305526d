"""The plugin ``one_row_each``: the rows of one person become one row."""
