"""What a release tells of attributes of the source, whatever its columns are called: classes, crowds, values."""
