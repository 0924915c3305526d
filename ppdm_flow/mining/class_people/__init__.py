"""What the people of classes have, as steps that make classes ask for it."""
