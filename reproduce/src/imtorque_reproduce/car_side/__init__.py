"""The experiment car_side."""
