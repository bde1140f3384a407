"""Tables about passes, opcodes, file kinds and flags, in files."""
