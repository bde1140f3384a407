"""Rules for copies, transposes, slices and converts that changed places with other instructions."""
