"""What may be asked: located YAML into typed models."""
