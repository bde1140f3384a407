"""What report.json holds: one record for each concept, plain and frozen."""
