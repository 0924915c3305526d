"""The plugin ``assign_class_id``: a column that names the class of each row."""
