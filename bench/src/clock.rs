//! Rates over a stretch of time.

use std::time::{Duration, Instant};

use anyhow::Result;

/// How many things a second `work` gets done, called again and again for `duration`; it says how many each time.
pub fn rate(duration: Duration, mut work: impl FnMut() -> Result<usize>) -> Result<f64> {
    let start = Instant::now();
    let mut done = 0;
    loop {
        done += work()?;
        let elapsed = start.elapsed();
        if elapsed >= duration {
            return Ok(done as f64 / elapsed.as_secs_f64());
        }
    }
}
