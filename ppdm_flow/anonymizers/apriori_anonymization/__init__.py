"""The plugin `apriori_anonymization`."""
