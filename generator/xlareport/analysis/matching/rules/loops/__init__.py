"""Rules for loops: paired, inlined or peeled ones, and work moved out of or into their bodies."""
