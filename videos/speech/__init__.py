"""Speech recognisers behind one protocol. No Django, no network: weights come from an installed package only."""
