"""Data contracts of the Open Data Contract Standard, version 3: text to values that know their places."""
