"""A folder that goes onto PYTHONPATH of a captured program; nothing here is imported by us."""
