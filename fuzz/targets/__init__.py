"""What must hold of any input, one parser a file: `check(data)` raises where it does not."""
