"""What calls of functions that stay calls do: to their arguments, and what they return."""
