"""How a test leads a broker on the wire: orders, the HTTP port that takes them, and a Python object that gives them."""
