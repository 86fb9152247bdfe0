"""Guided walks: populations of weighted walks that are split near violations, and what they say of their shares."""
