"""The operator: edge vectors, torque, extrema, moments, contribution, patterns."""
