//! A cluster for half an hour, with a kill every minute: memory stays flat, no lease leaks, the accounts balance.
//!
//! ```text
//! cargo test --release -p ludus --test soak -- --ignored --nocapture
//! LUDUS_MINUTES=5 LUDUS_EVERY=20 LUDUS_SEED=2 cargo test -p ludus --test soak -- --ignored --nocapture
//! ```

#[path = "support/cluster.rs"]
mod cluster;
#[path = "../../stream/tests/support/redis_server.rs"]
mod redis_server;
mod support;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cluster::{Cluster, PARTS, Part};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use support::{TINY, memory, number};

/// Time between two looks.
const LOOK: Duration = Duration::from_secs(5);
/// Games that may be out: each worker plays a lease and has the next, and as many again may wait for their time to run out,
/// or for the leases of a worker that died; 400 at most in each.
const OUT: u64 = 12 * 400;

#[test]
#[ignore = "takes half an hour"]
fn for_half_an_hour_with_a_kill_every_minute_memory_is_flat_and_no_lease_leaks() {
    let (minutes, every) = (number("LUDUS_MINUTES", 30), number("LUDUS_EVERY", 60));
    let seed = number("LUDUS_SEED", 1);
    println!("LUDUS_MINUTES={minutes} LUDUS_EVERY={every} LUDUS_SEED={seed} repeats this");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut cluster = Cluster::start(TINY);
    PARTS[2..].iter().for_each(|&part| cluster.raise(part));
    cluster.until_more(1500, 1);

    let (began, length) = (Instant::now(), Duration::from_secs(60 * minutes));
    let (mut kills, mut next) = (0, Duration::from_secs(every));
    // The most memory of each part, in KiB, in the first and in the second half.
    let mut sizes: BTreeMap<Part, [u64; 2]> = BTreeMap::new();
    let mut most_out = 0;
    while began.elapsed() < length {
        cluster.watch_for(LOOK.min(length.saturating_sub(began.elapsed())));
        let now = cluster.accounts();
        now.assert_balanced();
        most_out = most_out.max(now.leased);
        let half = usize::from(began.elapsed() > length / 2);
        for &part in &PARTS[1..] {
            let size = memory(cluster.process(part).id());
            let most = &mut sizes.entry(part).or_default()[half];
            *most = size.max(*most);
        }
        if began.elapsed() >= next {
            next += Duration::from_secs(every);
            kills += 1;
            let victim = PARTS[rng.random_range(0..PARTS.len())];
            println!("{:6.0} s: kill {kills}: {victim:?}; {now:?}", began.elapsed().as_secs_f64());
            cluster.kill(victim);
            cluster.watch_for(Duration::from_millis(rng.random_range(0..1000)));
            cluster.raise(victim);
        }
    }
    cluster.until_more(500, 0);
    let end = cluster.end();
    println!("{minutes} minutes, {kills} kills, ended by themselves: {:?}", cluster.fallen);
    println!("most memory in KiB, first and second half: {sizes:?}; at most {most_out} games out; {end:?}");
    assert!(most_out <= OUT, "{most_out} games are out");
    for (part, [first, second]) in sizes {
        assert!(second < first + first / 3 + 16 * 1024, "{part:?} grows from {first} to {second} KiB");
    }
}
