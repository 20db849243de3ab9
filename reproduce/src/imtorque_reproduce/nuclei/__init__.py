"""The experiment nuclei."""
