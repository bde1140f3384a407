"""The content of report.json: frozen records, one for each concept."""
