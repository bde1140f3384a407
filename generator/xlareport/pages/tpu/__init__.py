"""The page on what the instructions of a module run as on a TPU."""
