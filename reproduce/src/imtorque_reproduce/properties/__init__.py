"""What the operator answers to, beside other operators that look for objects."""
