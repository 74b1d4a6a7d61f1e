"""Section 5. What softmax changes: one layer, Figure 3, what is known of both kinds."""
