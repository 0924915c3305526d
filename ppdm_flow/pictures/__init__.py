"""Charts and graphs as SVG, for reports, plans and the page."""
