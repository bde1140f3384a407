"""The state of a search: links and pairings so far, with their grades and reasons."""
