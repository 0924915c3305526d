"""The original and files from elsewhere: opened, bound to the plan, and looked over."""
