//! Whether the gate keeps its promises, found out by playing thousands of gates with known truth.
//!
//! Every test is seeded. Two of them are reports for `docs/gate.md`, which gives the command.

use std::collections::BinaryHeap;

use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::interval::{IntervalRule, Moments};
use super::*;

const RULE: GateRule = GateRule { alpha: 0.05, beta: 0.05, delta: 0.005, limit_pairs: 60_000, bound: 3.0 };

/// How the two games of a pair hang together.
#[derive(Clone, Copy, Debug)]
enum Pairing {
    /// Unrelated dice.
    Independent,
    /// The same dice: with this probability the players part somewhere and the games are unrelated, otherwise both play
    /// alike and the pair is worth exactly 0.
    Mirrored(f64),
    /// The same dice, and luck-adjusted results: the players part in half of the pairs, and what is left then is a
    /// skewed residue of this spread a game.
    LuckAdjusted(f64),
}

impl Pairing {
    fn bound(self) -> f64 {
        if let Pairing::LuckAdjusted(_) = self { 6.0 } else { 3.0 }
    }

    /// The candidate's points in the two games of a pair; their mean is `ppg` on average.
    fn pair(self, ppg: f64, rng: &mut StdRng) -> [f64; 2] {
        match self {
            Pairing::Independent => [payoff(ppg, rng), payoff(ppg, rng)],
            Pairing::Mirrored(part) => {
                if rng.random_bool(part) {
                    [payoff(ppg / part, rng), payoff(ppg / part, rng)]
                } else {
                    let points = payoff(0.0, rng);
                    [points, -points]
                }
            }
            Pairing::LuckAdjusted(spread) => {
                if rng.random_bool(0.5) {
                    // An exponential shifted to mean 0: often a little below, sometimes far above, cut symmetrically
                    // in probability only beyond 40 spreads, which never happens.
                    let mut residue = || spread * (-(1.0 - rng.random::<f64>()).ln() - 1.0);
                    [2.0 * ppg - residue(), 2.0 * ppg - residue()]
                } else {
                    let residue = spread * (rng.random::<f64>() - 0.5);
                    [residue, -residue]
                }
            }
        }
    }
}

/// Points of a backgammon game with the usual share of gammons (27%) and backgammons (1.5%), worth `ppg` on average.
fn payoff(ppg: f64, rng: &mut StdRng) -> f64 {
    const MEAN_SIZE: f64 = 0.715 + 0.27 * 2.0 + 0.015 * 3.0;
    let size = match rng.random::<f64>() {
        u if u < 0.715 => 1.0,
        u if u < 0.985 => 2.0,
        _ => 3.0,
    };
    if rng.random_bool(0.5 + ppg / (2.0 * MEAN_SIZE)) { size } else { -size }
}

/// Games in the order in which they finish, when `in_flight` slots take the next number whenever they are free and the
/// candidate's losses last 1.6 times as long as its wins.
fn finishing_order(games: &[f64], in_flight: usize, rng: &mut StdRng) -> Vec<u64> {
    let mut slots = BinaryHeap::new();
    let mut order = vec![];
    let start = |number: usize, now: u64, rng: &mut StdRng| {
        let length = if games[number] < 0.0 { 1.6 } else { 1.0 };
        let ends = now + (1e6 * length * rng.random_range(0.5..1.5)) as u64;
        std::cmp::Reverse((ends, number))
    };
    for number in 0..in_flight.min(games.len()) {
        slots.push(start(number, 0, rng));
    }
    let mut next = slots.len();
    while let Some(std::cmp::Reverse((now, number))) = slots.pop() {
        order.push(number as u64);
        if next < games.len() {
            slots.push(start(next, now, rng));
            next += 1;
        }
    }
    order
}

/// The verdict of the gate as it is: the contiguous prefix of pair numbers.
fn verdict_by_number(rule: GateRule, games: &[f64], order: &[u64]) -> GateReport {
    let (mut prefix, mut gate) = (Prefix::new(), Gate::new(rule).unwrap());
    for number in order {
        prefix.game(*number, games[*number as usize]);
        while let Some(outcome) = prefix.next_pair() {
            gate.take(outcome).unwrap();
        }
    }
    gate.report()
}

/// The verdict of a gate that reads pairs as they arrive: what the real one must not do.
fn verdict_by_arrival(rule: GateRule, games: &[f64], order: &[u64]) -> Verdict {
    let mut gate = Gate::new(rule).unwrap();
    let mut half_known = std::collections::HashSet::new();
    for number in order {
        if half_known.insert(number / 2) {
            continue;
        }
        let first = 2 * (number / 2) as usize;
        let points = (games[first] + games[first + 1]) / 2.0;
        if gate.take(PairOutcome { pair: gate.pairs(), points }).unwrap() != Verdict::Running {
            break;
        }
    }
    gate.verdict()
}

#[test]
fn equal_players_are_promoted_rarely_however_many_games_are_in_flight_while_arrival_order_is_fooled() {
    const GATES: usize = 300;
    const PAIRS: usize = 600;
    // A gate that looks for large effects bets enough on the first results for their order to matter.
    let rule = GateRule { delta: 0.1, limit_pairs: PAIRS as u64, ..RULE };
    let mut rng = StdRng::seed_from_u64(1);
    let mut fooled = vec![];
    for in_flight in [1, 40, 128] {
        let (mut ours, mut arrival) = (0, 0);
        for _ in 0..GATES {
            let games: Vec<f64> = (0..PAIRS).flat_map(|_| Pairing::Independent.pair(0.0, &mut rng)).collect();
            let order = finishing_order(&games, in_flight, &mut rng);
            ours += usize::from(verdict_by_number(rule, &games, &order).verdict == Verdict::Promoted);
            arrival += usize::from(verdict_by_arrival(rule, &games, &order) == Verdict::Promoted);
        }
        println!("{in_flight} in flight: {ours} of {GATES} promoted, by arrival order {arrival}");
        // Three standard errors of the simulation above alpha.
        let allowed = GATES as f64 * 0.05 + 3.0 * (GATES as f64 * 0.05 * 0.95).sqrt();
        assert!((ours as f64) < allowed, "{ours} of {GATES} promoted with {in_flight} in flight");
        fooled.push(arrival);
    }
    assert!(fooled[2] > GATES / 4, "arrival order promotes {fooled:?} of {GATES}: the test lost its teeth");
}

#[test]
fn equal_players_on_mirrored_dice_are_promoted_rarely_with_and_without_luck_adjustment() {
    const GATES: usize = 150;
    let mut rng = StdRng::seed_from_u64(2);
    for pairing in [Pairing::Mirrored(0.05), Pairing::Mirrored(0.4), Pairing::LuckAdjusted(0.2)] {
        let rule = GateRule { limit_pairs: 3000, bound: pairing.bound(), ..RULE };
        let promoted = (0..GATES)
            .filter(|_| {
                let mut gate = Gate::new(rule).unwrap();
                while gate.verdict() == Verdict::Running {
                    let [a, b] = pairing.pair(0.0, &mut rng);
                    gate.take(PairOutcome { pair: gate.pairs(), points: (a + b) / 2.0 }).unwrap();
                }
                gate.verdict() == Verdict::Promoted
            })
            .count();
        println!("{pairing:?}: {promoted} of {GATES}");
        let allowed = GATES as f64 * 0.05 + 3.0 * (GATES as f64 * 0.05 * 0.95).sqrt();
        assert!((promoted as f64) < allowed, "{pairing:?}: {promoted} of {GATES}");
    }
}

#[test]
fn candidates_better_by_delta_are_rejected_by_evidence_rarely_and_clearly_better_ones_are_promoted() {
    const GATES: usize = 60;
    let mut rng = StdRng::seed_from_u64(3);
    let rule = GateRule { delta: 0.05, limit_pairs: 6000, ..RULE };
    let mut decided = |ppg: f64| {
        let (mut promoted, mut refuted) = (0, 0);
        for _ in 0..GATES {
            let mut gate = Gate::new(rule).unwrap();
            while gate.verdict() == Verdict::Running {
                let [a, b] = Pairing::Mirrored(0.4).pair(ppg, &mut rng);
                gate.take(PairOutcome { pair: gate.pairs(), points: (a + b) / 2.0 }).unwrap();
            }
            promoted += usize::from(gate.verdict() == Verdict::Promoted);
            refuted += usize::from(gate.verdict() == Verdict::Rejected && gate.pairs() < rule.limit_pairs);
        }
        (promoted, refuted)
    };
    let (_, refuted) = decided(0.05);
    assert!(refuted <= 8, "{refuted} of {GATES} rejected although better by delta");
    let (promoted, _) = decided(0.1);
    assert!(promoted >= GATES - 2, "{promoted} of {GATES} promoted although better by twice delta");
    let (_, refuted) = decided(0.0);
    assert!(refuted >= GATES * 8 / 10, "{refuted} of {GATES} rejected before the limit although equal");
}

#[test]
fn the_interval_covers_the_true_mean_at_every_time_in_nineteen_sequences_of_twenty() {
    const SEQUENCES: usize = 150;
    const PAIRS: usize = 500;
    let mut rng = StdRng::seed_from_u64(4);
    for (pairing, ppg) in [
        (Pairing::Independent, 0.0),
        (Pairing::Independent, 0.6),
        (Pairing::Mirrored(0.2), 0.02),
        (Pairing::LuckAdjusted(0.3), -0.05),
    ] {
        let rule = IntervalRule::new(0.05, pairing.bound(), PAIRS as u64);
        let missed = (0..SEQUENCES)
            .filter(|_| {
                let mut moments = Moments::default();
                (0..PAIRS).any(|_| {
                    let [a, b] = pairing.pair(ppg, &mut rng);
                    moments.take((a + b) / 2.0);
                    rule.refutes_up_to(&moments, ppg) || rule.refutes_up_to(&moments.mirrored(), -ppg)
                })
            })
            .count();
        println!("{pairing:?} at {ppg}: {missed} of {SEQUENCES} missed at some time");
        let allowed = SEQUENCES as f64 * 0.05 + 3.0 * (SEQUENCES as f64 * 0.05 * 0.95).sqrt();
        assert!((missed as f64) < allowed, "{pairing:?} at {ppg}: {missed} of {SEQUENCES}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_verdict_is_the_same_to_the_bit_for_any_order_of_arrival_and_any_restart(
        seed in any::<u64>(),
        ppg in -0.4f64..0.4,
        restarts in proptest::collection::vec(0usize..600, 0..4),
    ) {
        let mut rng = StdRng::seed_from_u64(seed);
        let rule = GateRule { limit_pairs: 250, ..RULE };
        let games: Vec<f64> = (0..300).flat_map(|_| Pairing::Mirrored(0.5).pair(ppg, &mut rng)).collect();
        let in_order: Vec<u64> = (0..games.len() as u64).collect();
        let expected = verdict_by_number(rule, &games, &in_order);

        let mut order = in_order;
        order.shuffle(&mut rng);
        let (mut prefix, mut gate) = (Prefix::new(), Gate::new(rule).unwrap());
        let mut log = vec![];
        for i in 0..order.len() {
            // On disk are the finished games; at a restart everything else is lost.
            let restarted = restarts.contains(&i);
            if restarted {
                (prefix, gate) = (Prefix::new(), Gate::new(rule).unwrap());
                log.clear();
            }
            for number in &order[if restarted { 0 } else { i }..=i] {
                prefix.game(*number, games[*number as usize]);
            }
            while let Some(outcome) = prefix.next_pair() {
                gate.take(outcome).unwrap();
                log.push(outcome);
            }
        }
        prop_assert_eq!(&gate.report(), &expected);
        prop_assert_eq!(&verify(rule, log).unwrap(), &expected);
    }
}

/// What the reports are about: pairs of players who part in 40% and in 10% of the games on the same dice, or have their
/// luck taken out.
const REPORTED: [Pairing; 5] = [
    Pairing::Independent,
    Pairing::Mirrored(0.4),
    Pairing::Mirrored(0.1),
    Pairing::LuckAdjusted(0.39),
    Pairing::LuckAdjusted(0.19),
];

/// Gates played for each line of a report.
const REPORTED_GATES: usize = 200;

fn quantile(sorted: &[u64], q: f64) -> u64 {
    sorted[((sorted.len() - 1) as f64 * q).round() as usize]
}

#[test]
#[ignore = "a report for docs/gate.md: about two minutes"]
fn report_the_power_of_the_gate() {
    println!(
        "{:<20} {:>6} {:>7} {:>9} {:>9} {:>8} {:>8}",
        "pairs", "sd", "ppg", "promoted", "rejected", "median", "90%"
    );
    for pairing in REPORTED {
        let rule = GateRule { bound: pairing.bound(), ..RULE };
        for ppg in [-0.005, 0.0, 0.005, 0.01, 0.02] {
            let mut rng = StdRng::seed_from_u64(5);
            let (mut promoted, mut refuted, mut pairs, mut moments) = (0, 0, vec![], Moments::default());
            for _ in 0..REPORTED_GATES {
                let mut gate = Gate::new(rule).unwrap();
                while gate.verdict() == Verdict::Running {
                    let [a, b] = pairing.pair(ppg, &mut rng);
                    moments.take((a + b) / 2.0);
                    gate.take(PairOutcome { pair: gate.pairs(), points: (a + b) / 2.0 }).unwrap();
                }
                promoted += usize::from(gate.verdict() == Verdict::Promoted);
                refuted +=
                    usize::from(gate.verdict() == Verdict::Rejected && gate.pairs() < rule.limit_pairs);
                pairs.push(gate.pairs());
            }
            pairs.sort_unstable();
            let percent = |count: usize| 100.0 * count as f64 / REPORTED_GATES as f64;
            println!(
                "{:<20} {:>6.3} {:>+7.3} {:>8.1}% {:>8.1}% {:>8} {:>8}",
                format!("{pairing:?}"),
                moments.variance().sqrt(),
                ppg,
                percent(promoted),
                percent(refuted),
                quantile(&pairs, 0.5),
                quantile(&pairs, 0.9),
            );
        }
    }
}

/// The e-process the gate does not use: 32 fixed rates on a logarithmic grid up to half of what the bound allows.
fn pairs_with_fixed_rates(pairing: Pairing, ppg: f64, rng: &mut StdRng) -> u64 {
    let highest = 0.5 / pairing.bound();
    let lowest = (2.0 * 20f64.ln() / RULE.limit_pairs as f64).sqrt() / pairing.bound();
    let rates: [f64; 32] = std::array::from_fn(|k| lowest * (highest / lowest).powf(k as f64 / 31.0));
    let mut money = [1.0 / 32.0; 32];
    for pair in 1..=RULE.limit_pairs {
        let [a, b] = pairing.pair(ppg, rng);
        for (money, rate) in money.iter_mut().zip(&rates) {
            *money *= 1.0 + rate * (a + b) / 2.0;
        }
        if money.iter().sum::<f64>() >= 20.0 {
            return pair;
        }
    }
    RULE.limit_pairs
}

#[test]
#[ignore = "a report for docs/gate.md: about a minute"]
fn report_what_fixed_rates_would_cost() {
    println!("{:<20} {:>7} {:>8} {:>8}", "pairs", "ppg", "median", "90%");
    for pairing in REPORTED {
        for ppg in [0.005, 0.01, 0.02] {
            let mut rng = StdRng::seed_from_u64(5);
            let mut pairs: Vec<u64> =
                (0..REPORTED_GATES).map(|_| pairs_with_fixed_rates(pairing, ppg, &mut rng)).collect();
            pairs.sort_unstable();
            println!(
                "{:<20} {:>+7.3} {:>8} {:>8}",
                format!("{pairing:?}"),
                ppg,
                quantile(&pairs, 0.5),
                quantile(&pairs, 0.9)
            );
        }
    }
}
