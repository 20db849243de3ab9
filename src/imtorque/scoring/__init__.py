"""Folders of predictions against folders of truth: joins data sets and evaluation."""
