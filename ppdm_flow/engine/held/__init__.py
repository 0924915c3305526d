"""Files of a held run: the private one for its later release, and the record of that release."""
