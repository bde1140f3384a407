"""The page on the collectives of a module."""
