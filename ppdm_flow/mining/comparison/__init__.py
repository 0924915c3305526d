"""How alike two tables are: by the code tables that compress them, and by their frequent itemsets."""
