"""What is counted where people have several rows: people in classes, and what whoever knows several rows finds."""
