"""What those who receive a release are told: statements on its columns, and which figures may be shared."""
