"""How fast the reference broker is with its store in files."""
