"""What it costs to take memory out, to bring it back, and to take something away for good."""
