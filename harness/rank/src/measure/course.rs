//! A method on its way through a case.

use crate::method::Method;

/// A method on its way. It is made once per case: windows above all are dear, and one MPI breaks now and then where
/// many are made.
pub struct Course<'a> {
    /// Its name.
    pub name: String,
    /// How it sends.
    pub method: Box<dyn Method + 'a>,
}
