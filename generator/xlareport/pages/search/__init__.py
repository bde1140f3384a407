"""The search index of a report."""
