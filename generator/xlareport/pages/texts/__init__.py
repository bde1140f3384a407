"""The page of a module's texts."""
