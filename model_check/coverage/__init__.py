"""What searches have put to use of the specification, counted over states, and over many environments together."""
