"""The common part of audits of usefulness: classifiers that learn from some rows and are tested on others."""
