//! Enums whose variants have names; each name is written once.

/// An enum with the name of each variant, on the command line, in results and in texts: all variants in
/// `ALL`, the name from `name` and as text, and the variant of a name from `parse`.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* $visible:vis enum $type:ident { $($(#[$of:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        $visible enum $type {
            $($(#[$of])* $variant,)+
        }

        impl $type {
            /// All of them, in order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name on the command line, in results and in texts.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> std::result::Result<Self, String> {
                let known = Self::ALL.into_iter().find(|variant| variant.name() == text);
                known.ok_or_else(|| format!("must be {}", $crate::named::one_of(&[$($name),+])))
            }
        }
    };
}

/// Names in the form used in a sentence: `a, b or c`.
pub fn one_of(names: &[&str]) -> String {
    match names {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}
