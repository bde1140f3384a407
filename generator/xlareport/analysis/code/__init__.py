"""Machine code and similar files, linked to the HLO instructions."""
