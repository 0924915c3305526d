"""Charts as plain drawings: geometry here, SVG in the template."""
