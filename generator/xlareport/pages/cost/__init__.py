"""The page on the cost of a module."""
