"""The coverage page: files read, problems, missing files."""
