"""Section 4. The dimension of deep networks: ledger, hypotheses, virtual weights."""
