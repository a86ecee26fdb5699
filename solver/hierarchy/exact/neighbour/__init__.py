"""What neighbours may hand on: what is read all the same, when they may, and costing what that leaves open."""
