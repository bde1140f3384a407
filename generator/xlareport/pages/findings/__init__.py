"""The section on findings."""
