"""Opens the original and files from elsewhere, binds them to the plan, and checks them."""
