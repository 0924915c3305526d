"""Changes of policies that need not be harmless, and whether one lets more out, decided by running both."""
