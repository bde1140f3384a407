"""The cost of a module: work, loops, collectives, memory. Unknown figures are None."""
