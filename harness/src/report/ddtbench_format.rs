//! ddtbench_format
