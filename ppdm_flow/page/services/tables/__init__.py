"""Released tables, page by page: a private copy of each, laid out for reading pages of it."""
