"""Analyses of modules and their cost: values in, values out, no files."""
