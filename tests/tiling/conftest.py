"""Clusters, for the tests of this folder."""

from cluster_fixtures import bare, client

__all__ = ["bare", "client"]
