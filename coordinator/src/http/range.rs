//! Which part of a file a request asks for (RFC 9110, sections 13 and 14).

use std::ops::Range;

/// What a `Range` header asks of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All of it; also for ranges we need not understand (other units, several parts, malformed).
    Whole,
    /// These bytes, not empty and within the file.
    Part(Range<usize>),
    /// Bytes the file does not have.
    Beyond,
}

/// Reads a `Range` header for a file of `size` bytes.
pub(super) fn wanted(header: &str, size: usize) -> Wanted {
    let Some((first, last)) = header.trim().strip_prefix("bytes=").and_then(|spec| spec.split_once('-'))
    else {
        return Wanted::Whole;
    };
    match (number(first), number(last)) {
        (Some(Some(first)), Some(last)) => {
            if last.is_some_and(|last| last < first) {
                return Wanted::Whole;
            }
            let end = last.map_or(size, |last| last.saturating_add(1).min(size));
            if first < end { Wanted::Part(first..end) } else { Wanted::Beyond }
        }
        // The last so many bytes.
        (Some(None), Some(Some(count))) => match count.min(size) {
            0 => Wanted::Beyond,
            count => Wanted::Part(size - count..size),
        },
        _ => Wanted::Whole,
    }
}

/// `None` when it is no number, `Some(None)` when it is left out. Numbers too large for us are larger than any file.
fn number(text: &str) -> Option<Option<usize>> {
    let text = text.trim();
    if text.is_empty() {
        return Some(None);
    }
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| Some(text.parse().unwrap_or(usize::MAX)))
}

/// Whether an `If-None-Match` header names `tag` (a quoted entity tag).
pub(super) fn names(header: &str, tag: &str) -> bool {
    header.trim() == "*" || header.split(',').any(|named| named.trim().trim_start_matches("W/") == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        for (header, expected) in [
            ("bytes=0-9", Wanted::Part(0..10)),
            ("bytes=10-", Wanted::Part(10..100)),
            ("bytes=90-1000", Wanted::Part(90..100)),
            ("bytes=-30", Wanted::Part(70..100)),
            ("bytes=-1000", Wanted::Part(0..100)),
            ("bytes=99-99", Wanted::Part(99..100)),
            ("bytes=100-", Wanted::Beyond),
            ("bytes=100-200", Wanted::Beyond),
            ("bytes=-0", Wanted::Beyond),
            ("bytes=99999999999999999999999-", Wanted::Beyond),
            ("bytes=5-2", Wanted::Whole),
            ("bytes=0-1,5-6", Wanted::Whole),
            ("bytes=-", Wanted::Whole),
            ("bytes=a-b", Wanted::Whole),
            ("bytes=+1-2", Wanted::Whole),
            ("lines=0-9", Wanted::Whole),
            ("", Wanted::Whole),
        ] {
            assert_eq!(wanted(header, 100), expected, "{header}");
        }
        assert_eq!(wanted("bytes=0-", 0), Wanted::Beyond);
    }

    #[test]
    fn entity_tags_are_compared_weakly_and_in_lists() {
        for header in ["*", "\"a\"", "W/\"a\"", "\"x\", \"a\"", " \"a\" "] {
            assert!(names(header, "\"a\""), "{header}");
        }
        for header in ["", "a", "\"b\"", "\"aa\""] {
            assert!(!names(header, "\"a\""), "{header}");
        }
    }
}
