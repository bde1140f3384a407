"""What the compiler did and what it costs: values and artifacts in, values out."""
