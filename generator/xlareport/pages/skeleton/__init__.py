"""The page of the static execution skeleton of a module."""
