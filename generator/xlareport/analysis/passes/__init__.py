"""Summaries over all passes of a compilation: times, growth, pipelines."""
