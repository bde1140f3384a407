"""Rules for dots, collectives and other heavy instructions."""
