"""The page on the TPU programs of a module's instructions."""
