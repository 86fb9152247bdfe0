"""Defects of the catalogue that the reference broker shows: a scenario an id, played in two versions."""
