"""Does the uplift interval hold what it promises, and how long does it take to see an effect? Worlds whose effects are known."""
