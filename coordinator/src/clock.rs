//! The time of day.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::leases::Millis;

/// Milliseconds since 1970; 0 on a machine whose clock stands before that.
pub(crate) fn now() -> Millis {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as Millis)
}
