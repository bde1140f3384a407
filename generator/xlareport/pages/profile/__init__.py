"""The page on what a profiler measured."""
