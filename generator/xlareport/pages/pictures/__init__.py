"""What pictures a report asks for, and their payloads."""
