"""Requests for the pictures of a report, and their payloads."""
