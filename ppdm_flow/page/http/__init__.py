"""Requests and answers: who may ask for what, forms, headers."""
