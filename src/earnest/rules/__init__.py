"""Rules: proposed from what went wrong and right, accepted by people or proved by trials, and shown where they apply."""
