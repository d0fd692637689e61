//! One place for a key: its name, type, default and documentation.

/// What a section of the configuration knows about itself.
pub(crate) trait Section {
    /// Every key in the order of the struct, with the lines of its doc comment.
    const KEYS: &'static [Key];
}

/// A key and its documentation.
pub(crate) struct Key {
    /// The key as written in the file.
    pub name: &'static str,
    /// Its doc comment, a line each, as written (with the leading space).
    pub doc: &'static [&'static str],
}

/// Defines a struct whose every field has a default, and keeps the doc comments for `to_toml`.
macro_rules! section {
    ($(#[doc = $about:literal])+ pub struct $name:ident {
        $($(#[doc = $doc:literal])+ pub $key:ident: $type:ty = $default:expr,)+
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $key: $type,)+
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($key: $default,)+ }
            }
        }

        impl $crate::section::Section for $name {
            const KEYS: &'static [$crate::section::Key] = &[
                $($crate::section::Key { name: stringify!($key), doc: &[$($doc),+] },)+
            ];
        }
    };
}
pub(crate) use section;
