"""Result objects → plotly figures. Nothing here computes: what is drawn as measured is a `Measurement`."""
