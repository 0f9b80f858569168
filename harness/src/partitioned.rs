//! Fine-grained communication: a message handed over in partitions, each as soon as its thread has finished it.

pub mod model;
pub mod order;
