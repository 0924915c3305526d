"""Classifiers that learn from one part of the rows and are asked about another: what audits of usefulness share."""
