"""What differs by release below the state machine's level."""
