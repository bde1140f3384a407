"""The page on the source lines that became a module."""
