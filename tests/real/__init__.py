"""Tests on real captures, which do not come with the checkout: `make test-real`."""
