"""Graphs as SVG: content, layout and style."""
