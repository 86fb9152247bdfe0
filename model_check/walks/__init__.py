"""Random walks of the specification: how a step is chosen, compiled walks, those in plain Python, guided ones."""
