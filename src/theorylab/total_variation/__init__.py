"""Exact equivalence and hardness of total variation distance between succinct distributions."""
