"""What a release reveals of attributes of the source, under any column names: classes, crowds, values."""
