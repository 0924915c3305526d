"""All texts of the page, one folder a language, one file a feature."""
