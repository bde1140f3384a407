"""Rules that link nodes of the two modules: by value, by origin, by name and by neighborhood."""
