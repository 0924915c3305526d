"""Uploaded tables: private files of one person each, limited, looked at before they are kept, removed after a time."""
