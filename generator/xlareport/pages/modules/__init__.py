"""The page of all modules."""
