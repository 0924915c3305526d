"""A run laid out for an expert determination: what is known, and what a person has to say."""
