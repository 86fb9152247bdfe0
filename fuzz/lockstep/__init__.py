"""The specification and the reference broker side by side, and what is compared."""
