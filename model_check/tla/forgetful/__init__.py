"""A machine that forgets what is over behind each step, as a module; and what must happen in it in the end."""
