"""The pass gallery: list of steps, one payload for each step."""
