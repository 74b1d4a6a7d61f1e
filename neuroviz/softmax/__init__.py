"""Section 5. What softmax changes: one layer, Figure 3, the overview of what is known."""
