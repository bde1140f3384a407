"""Where instructions come from in the program of the user: source lines and scopes."""
