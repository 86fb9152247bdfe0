"""Remedies for a broken clause or a defect, for whoever asks: by release, by what may go wrong, by settings."""
