"""Steps carried out, one stream feeding the next."""
