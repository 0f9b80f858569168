//! A run: from a plan to a folder of results.
