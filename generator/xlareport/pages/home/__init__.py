"""The home page: answers, ways in, modules."""
