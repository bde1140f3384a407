"""What report.json holds: frozen records, and the store that keeps many of them on disk."""
