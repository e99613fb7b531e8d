"""The story's pictures: each function returns one SVG as text, the same bytes every time."""
