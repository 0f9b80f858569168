//! Plans: the list of cases to run.
