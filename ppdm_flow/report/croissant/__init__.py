"""A release as Croissant: the metadata format of ML Commons for data sets, with its responsible-AI terms."""
