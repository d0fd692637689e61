//! Names of streams. Two coordinators with runs of one name may share a Redis, so the name says whose run it is:
//! `NAME-0123456789abcdef`; and a copy of a run that is gone on with is the same run in a stream of its own:
//! `NAME-0123456789abcdef.01234567`.

use crate::StreamError;

/// Longest name: that of the longest run and both marks.
const MOST: usize = 96;
/// Hexadecimal digits that mark a copy.
const COPY: usize = 8;

/// A name that no other stream has, with that of its run (ASCII) in front for people who look into Redis.
pub fn new_stream(run: &str) -> String {
    format!("{run}-{:016x}", rand::random::<u64>())
}

/// A name for the stream of a copy of the run that has `stream`.
pub fn stream_of_copy(stream: &str) -> String {
    format!("{}.{:0COPY$x}", original_stream(stream), rand::random::<u32>())
}

/// The first stream of the run that has `stream`, which all its copies have in common.
pub fn original_stream(stream: &str) -> &str {
    match stream.rsplit_once('.') {
        Some((original, copy)) if copy.len() == COPY && copy.bytes().all(|c| c.is_ascii_hexdigit()) => {
            original
        }
        _ => stream,
    }
}

/// Checks that `stream` can be part of a key or file without quoting.
pub(crate) fn check(stream: &str) -> Result<(), StreamError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if stream.is_empty() || stream.len() > MOST || !stream.chars().all(fits) {
        return Err(StreamError::Name { name: stream.to_owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_told_from_its_original_and_from_other_copies_whatever_the_run_is_called() {
        for run in ["b", "a.0123abcd", "x-0123456789abcdef.01234567", &"long".repeat(16)] {
            let original = new_stream(run);
            assert_ne!(original, new_stream(run));
            assert_eq!(original_stream(&original), original);
            let copy = stream_of_copy(&original);
            let again = stream_of_copy(&copy);
            for stream in [&original, &copy, &again] {
                check(stream).expect("a name");
                assert_eq!(original_stream(stream), original);
            }
            assert!(copy != original && again != copy && again.len() == copy.len());
        }
    }

    #[test]
    fn a_name_that_would_need_quoting_is_refused() {
        for name in ["", "a/b", "a b", "{a}", "ä", &"x".repeat(97)] {
            assert!(check(name).is_err(), "{name}");
        }
    }
}
