"""What the passes of a compilation did, taken together: times, growth, pipelines."""
