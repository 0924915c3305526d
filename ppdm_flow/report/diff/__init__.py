"""What changed between two policies or two runs: as text, as Markdown, as JSON."""
