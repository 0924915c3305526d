"""Linear and logistic regression of tables, and how alike the intervals of two fits are."""
