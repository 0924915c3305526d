"""A plan's document as a picture: text, Mermaid, Graphviz or SVG."""
