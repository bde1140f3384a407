"""The page on dump file names."""
