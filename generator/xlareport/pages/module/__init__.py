"""A module's page: overview, head, tabs, and its parts as files."""
