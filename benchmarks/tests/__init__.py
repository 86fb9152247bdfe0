"""What the tests cost, test by test."""
