"""The page on a module's memory."""
