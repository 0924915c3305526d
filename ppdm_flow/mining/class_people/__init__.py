"""The values of the people of classes, for the steps that make classes."""
