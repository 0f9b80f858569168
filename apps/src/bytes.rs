//! Numbers of bytes as people type them.

/// A number of bytes: plain, or with a unit of 1000 or 1024.
pub fn bytes(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match &text[digits..] {
        "" | "B" => 1,
        "kB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KiB" | "K" | "k" => 1 << 10,
        "MiB" | "M" | "m" => 1 << 20,
        "GiB" | "G" | "g" => 1 << 30,
        "TiB" | "T" | "t" => 1 << 40,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_of_1000_or_of_1024() {
        for (text, value) in [("7", 7), ("7B", 7), ("2kB", 2000), ("2KiB", 2048), ("3m", 3 << 20), ("0", 0)] {
            assert_eq!(bytes(text), Some(value), "{text}");
        }
        for text in ["", "KiB", "-1", "1.5MB", "1 KiB", "1kib", "99999999999TiB"] {
            assert_eq!(bytes(text), None, "{text}");
        }
    }
}
