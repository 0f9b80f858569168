//! A layout as JSON, with a version, so that layouts can be kept in files and exchanged.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Layout, SchemaError};

/// The schema that this version writes and reads: a layout as JSON.
///
/// ```json
/// {"schema": "ddtbench-layout/1",
///  "layout": {"constructor": "vector", "count": 3, "blocklength": 1, "stride": 4,
///             "child": {"constructor": "named", "element": "double"}}}
/// ```
///
/// Every layout is an object with the name of its `constructor` and all its arguments, nothing else; numbers
/// are integers of 64 bits, `child` is a layout, `[..]` a list:
///
/// | `constructor` | arguments |
/// |---|---|
/// | `named` | `element`: [`Element::name`](crate::Element::name) |
/// | `contiguous` | `count`, `child` |
/// | `vector` | `count`, `blocklength`, `stride`, `child` |
/// | `hvector` | `count`, `blocklength`, `stride_bytes`, `child` |
/// | `indexed` | `blocklengths: [..]`, `displacements: [..]`, `child` |
/// | `hindexed` | `blocklengths: [..]`, `displacements_bytes: [..]`, `child` |
/// | `indexed_block` | `blocklength`, `displacements: [..]`, `child` |
/// | `hindexed_block` | `blocklength`, `displacements_bytes: [..]`, `child` |
/// | `struct` | `blocklengths: [..]`, `displacements_bytes: [..]`, `children: [layouts]` |
/// | `subarray` | `sizes: [..]`, `subsizes: [..]`, `starts: [..]`, `order`: `c` or `fortran`, `child` |
/// | `resized` | `lower_bound`, `extent`, `child` |
///
/// The number in `schema` changes when a file of the old form would be read wrongly or not at all.
pub const SCHEMA: &str = "ddtbench-layout/1";

#[derive(Serialize)]
struct Written<'a> {
    schema: &'static str,
    layout: &'a Layout,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    #[serde(rename = "schema")]
    _schema: String,
    layout: Value,
}

/// Read before all else: another version may have other fields.
#[derive(Deserialize)]
#[serde(expecting = "an object with `schema` and `layout`")]
struct Version {
    schema: String,
}

impl Layout {
    /// The layout as JSON, on one line, in the form of [`SCHEMA`].
    pub fn to_json(&self) -> String {
        serde_json::to_string(&Written { schema: SCHEMA, layout: self }).expect("a layout is plain data")
    }

    /// Reads what [`Layout::to_json`] wrote; every constructor is checked as if it were called.
    ///
    /// # Errors
    /// [`SchemaError`] with the place and the reason.
    pub fn from_json(text: &str) -> Result<Self, SchemaError> {
        let Version { schema: found } = serde_json::from_str(text)?;
        if found != SCHEMA {
            return Err(SchemaError::Version { expected: SCHEMA, found });
        }
        let Read { layout, .. } = serde_json::from_str(text)?;
        if let Some(place) = positional(&layout, "layout".into()) {
            let reason = serde::de::Error::custom("a list, where a layout is an object");
            return Err(SchemaError::Refused { place, reason });
        }
        Self::deserialize(&layout).map_err(|reason| locate(&layout, reason))
    }
}

/// The layouts right below one, with the names they are reached by.
fn below(layout: &Value) -> impl Iterator<Item = (String, &Value)> {
    let child = layout.get("child").map(|child| ("child".to_string(), child));
    let children = layout.get("children").and_then(Value::as_array).into_iter().flatten().enumerate();
    child.into_iter().chain(children.map(|(i, child)| (format!("children[{i}]"), child)))
}

/// Where a list stands for a layout. Serde would read its items as arguments, by their order alone.
fn positional(layout: &Value, place: String) -> Option<String> {
    if layout.is_array() {
        return Some(place);
    }
    below(layout).find_map(|(name, child)| positional(child, format!("{place}.{name}")))
}

/// Follows a refusal down to the innermost layout that is refused.
fn locate(layout: &Value, reason: serde_json::Error) -> SchemaError {
    let (mut place, mut layout, mut reason) = ("layout".to_string(), layout, reason);
    let refused = |(name, child)| Some((name, child, Layout::deserialize(child).err()?));
    while let Some((name, child, why)) = below(layout).find_map(refused) {
        place = format!("{place}.{name}");
        (layout, reason) = (child, why);
    }
    SchemaError::Refused { place, reason }
}
