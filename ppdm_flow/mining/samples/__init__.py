"""A sample of a population: how many people share a respondent's key, and who is unique among them, by estimates."""
