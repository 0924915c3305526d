"""Object stores: what is read from one is copied first, and what goes to one is published by its manifest."""
