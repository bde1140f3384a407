"""The page on what a module costs."""
