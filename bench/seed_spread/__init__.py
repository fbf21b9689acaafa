"""How far apart seeds of one configuration are, and what a comparison makes of equal ones."""
