//! How long a training may go on: by the clock, or by the processor time it has used.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::time::sleep;

/// Time between two looks at the processor time.
const LOOK: Duration = Duration::from_millis(100);

/// What a training may use.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Budget {
    /// End after this long, such as 90s, 20m or 2h30m [default: at Ctrl-C]
    #[arg(long, value_name = "TIME", value_parser = some_time)]
    pub time: Option<Duration>,
    /// End when all threads together have used this much processor time: comparisons on a busy machine are fair by it
    #[arg(long, value_name = "TIME", value_parser = some_time)]
    pub cpu_time: Option<Duration>,
}

impl Budget {
    /// Returns when it is used up.
    pub async fn used_up(self) {
        let by_the_clock = async {
            match self.time {
                Some(time) => sleep(time).await,
                None => std::future::pending().await,
            }
        };
        let by_the_processor = async {
            match self.cpu_time {
                Some(time) => {
                    while processor_time() < time {
                        sleep(LOOK).await;
                    }
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = by_the_clock => {}
            () = by_the_processor => {}
        }
    }
}

/// Processor time that this process has used, all threads together.
fn processor_time() -> Duration {
    // Neither number of a clock that only counts up from zero is negative.
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec.unsigned_abs(), used.tv_nsec.unsigned_abs() as u32)
}

fn some_time(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if time.is_zero() {
        return Err("no time is no training; give some, such as 10m".into());
    }
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn processor_time_runs_while_the_processor_works_and_not_while_it_sleeps() {
        let budget = Budget { time: None, cpu_time: Some(processor_time() + Duration::from_millis(200)) };
        let asleep = tokio::time::timeout(Duration::from_millis(300), budget.used_up()).await;
        // Other tests work in this process, too, so this one may find it used up; but not before it was used.
        assert!(asleep.is_err() || processor_time() >= budget.cpu_time.unwrap());
        let mut sum = 0u64;
        while processor_time() < budget.cpu_time.unwrap() {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        budget.used_up().await;
    }

    #[test]
    fn no_time_at_all_is_refused() {
        assert_eq!(some_time("90s"), Ok(Duration::from_secs(90)));
        assert!(some_time("0s").unwrap_err().contains("10m"));
        assert!(some_time("soon").is_err());
    }
}
