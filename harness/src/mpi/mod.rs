//! The MPIs of this machine.
