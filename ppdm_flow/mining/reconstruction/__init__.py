"""The original frequencies of a randomized attribute, estimated from the released ones and the operator.

With the fine-grain operator P[j, i] = p_i [i = j] + (1 - p_i)/m (Chaytor and Wang, section 3) n original counts become
released counts y with mean P n. Everything here costs O(m) time and memory for each reconstructed row of counts;
counts may have leading axes, such as one row for each group of a query. A whole matrix is inverted, and a row of counts
costs O(m^2).
"""
