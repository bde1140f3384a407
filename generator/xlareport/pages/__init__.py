"""Records become pages and payloads."""
