"""The step `truncate_zip_codes`."""
