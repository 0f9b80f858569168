//! A layout as JSON, with a version, so that layouts can be kept in files and exchanged.
//!
//! ```json
//! {"schema": "ddtbench-layout/1", "layout": {"constructor": "vector", "count": 3, "blocklength": 1, "stride": 4,
//!  "child": {"constructor": "named", "element": "double"}}}
//! ```

use serde::{Deserialize, Serialize};

use crate::{Layout, SchemaError};

/// The schema that this version writes and reads.
pub const SCHEMA: &str = "ddtbench-layout/1";

#[derive(Serialize)]
struct Written<'a> {
    schema: &'static str,
    layout: &'a Layout,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    schema: String,
    layout: serde_json::Value,
}

impl Layout {
    /// The layout as JSON, on one line.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&Written { schema: SCHEMA, layout: self }).expect("a layout is plain data")
    }

    /// Reads what [`Layout::to_json`] wrote; every constructor is checked as if it were called.
    ///
    /// # Errors
    /// [`SchemaError`] with the place and the reason.
    pub fn from_json(text: &str) -> Result<Self, SchemaError> {
        let read: Read = serde_json::from_str(text)?;
        if read.schema != SCHEMA {
            return Err(SchemaError::Version { expected: SCHEMA, found: read.schema });
        }
        Ok(serde_json::from_value(read.layout)?)
    }
}
