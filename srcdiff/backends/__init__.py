"""Ways of running generated source."""
