"""A folder for the PYTHONPATH of a captured program; the package does not import from it."""
