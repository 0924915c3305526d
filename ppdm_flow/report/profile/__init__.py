"""The profile of a table as a commented policy, as text and as JSON. None shows a value of the data."""
