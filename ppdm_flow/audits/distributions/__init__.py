"""The plugin `distributions`."""
