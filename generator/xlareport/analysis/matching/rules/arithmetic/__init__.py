"""Rules for arithmetic that was rewritten into other operations of the same value."""
