"""Does the gate let rules in that help, and only those? Worlds in which what each rule does is known."""
