"""The page on measured times."""
