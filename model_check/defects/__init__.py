"""The catalogue of known defects as data, and the searches that find them in the specification."""
