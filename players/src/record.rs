//! Game records: their digest, replaying them, and checking them by the rules alone.

use ludus_games::{Chances, Game, Plays};
use ludus_proto::v1::player_ref::Who;
use ludus_proto::v1::{GameRecord, LuckMode, PlayerRef, Series, SeriesKind};
use sha2::{Digest, Sha256};

use crate::arena::{Checked, Violation};
use crate::dice;
use crate::table::MAX_PLIES;
use labels::LabelCheck;

/// The seat that acts at `ply` of game `number`.
pub fn seat_at(number: u64, ply: usize) -> usize {
    ((number % 2) as usize + ply) % 2
}

/// One ply of a replayed game.
#[derive(Debug)]
pub struct Ply<'a, G: Game> {
    /// Plays made before it.
    pub ply: usize,
    /// The seat that acts.
    pub seat: usize,
    /// The position before the roll, seen by that seat.
    pub state: &'a G::State,
    /// The roll.
    pub roll: G::Roll,
    /// Index of the play made in `plays`.
    pub play: usize,
    /// All legal plays of the roll.
    pub plays: &'a Plays<G>,
    /// The position after the play made, seen by the other seat.
    pub after: &'a G::State,
}

/// Replays a record ply by ply, by the rules alone.
#[derive(Debug)]
pub struct Replay<'a, G: Game> {
    game: G,
    record: &'a GameRecord,
    ply: usize,
    before: G::State,
    state: G::State,
    plays: Plays<G>,
}

impl<'a, G: Game> Replay<'a, G> {
    /// A replay of `record` from its start.
    pub fn new(game: G, record: &'a GameRecord) -> Self {
        Replay { game, record, ply: 0, before: game.start(), state: game.start(), plays: Plays::new() }
    }

    /// The next ply; `None` when the game is over, by then [`Replay::payoff`] has its result.
    ///
    /// The violation is `illegal-roll`, `illegal-play`, `unfinished` when the record ends before the game, or `too-long`
    /// when it goes on after it.
    pub fn next_ply(&mut self) -> Result<Option<Ply<'_, G>>, Violation> {
        let (ply, rolls, plays) = (self.ply, &self.record.rolls, &self.record.plays);
        let recorded = rolls.len().max(plays.len());
        if self.game.payoff(&self.state).is_some() {
            if ply < recorded {
                return refuse("too-long", || format!("the game is over after {ply} of {recorded} plies"));
            }
            return Ok(None);
        }
        let (Some(&roll), Some(&play)) = (rolls.get(ply), plays.get(ply)) else {
            return refuse("unfinished", || {
                format!(
                    "the record ends with {} rolls and {} plays; the game goes on",
                    rolls.len(),
                    plays.len()
                )
            });
        };
        let possible = self.game.rolls(&self.state, ply);
        let Some(&(roll, _)) = possible.get(usize::from(roll)) else {
            return refuse("illegal-roll", || format!("ply {ply}: roll {roll} of {}", possible.len()));
        };
        self.game.plays(&self.state, roll, &mut self.plays);
        let play = play as usize;
        let Some(after) = self.plays.after.get(play) else {
            return refuse("illegal-play", || format!("ply {ply}: play {play} of {}", self.plays.len()));
        };
        self.before = std::mem::replace(&mut self.state, after.clone());
        self.ply += 1;
        Ok(Some(Ply {
            ply,
            seat: seat_at(self.record.number, ply),
            state: &self.before,
            roll,
            play,
            plays: &self.plays,
            after: &self.state,
        }))
    }

    /// Points of seat 0 in the position reached, when the game is over.
    pub fn payoff(&self) -> Option<i8> {
        let points = self.game.payoff(&self.state)?;
        Some(if seat_at(self.record.number, self.ply) == 0 { points } else { -points })
    }

    /// Plies replayed so far.
    pub fn plies(&self) -> usize {
        self.ply
    }
}

/// Replays a record and replaces the content of `states` by the positions its labels are about, one a label, seen by the
/// side that acts next. The violations are those of [`Replay::next_ply`], and `bad-label` for a label without a position.
pub fn labelled_positions<G: Game>(
    game: G,
    record: &GameRecord,
    states: &mut Vec<G::State>,
) -> Result<(), Violation> {
    states.clear();
    let mut replay = Replay::new(game, record);
    while let Some(ply) = replay.next_ply()? {
        while let Some(label) = record.labels.get(states.len()).filter(|label| label.ply as usize == ply.ply)
        {
            match ply.plays.after.get(label.play as usize) {
                Some(after) if game.payoff(after).is_none() => states.push(after.clone()),
                _ => {
                    return refuse("bad-label", || {
                        format!("ply {}: no position of play {}", label.ply, label.play)
                    });
                }
            }
        }
    }
    match record.labels.get(states.len()) {
        Some(label) => refuse("bad-label", || format!("a label of ply {} out of place", label.ply)),
        None => Ok(()),
    }
}

/// Checks a record by the rules, its series' dice and the plays it must begin with, evaluating nothing.
///
/// Reasons: `too-long`, `bad-digest`, those of [`Replay::next_ply`], `wrong-dice`, `wrong-opening`, `wrong-result`, `bad-exploration`,
/// `luck-length`, `luck-not-finite`, `luck-out-of-range`, `labels-unasked`, `too-many-labels`, `bad-label`.
pub fn check<G: Game>(
    game: G,
    series: &Series,
    players: &[PlayerRef],
    opening: &[u32],
    record: &GameRecord,
) -> Result<Checked, Violation> {
    if record.rolls.len() > MAX_PLIES {
        return refuse("too-long", || format!("{} plies, more than {MAX_PLIES}", record.rolls.len()));
    }
    if record.digest != digest::<G>(series, players, record) {
        return refuse("bad-digest", || "the digest is not that of the record, series and players".into());
    }
    let mut replay = Replay::new(game, record);
    let mut thrown = dice::rolls_of(series, record.number);
    let mut labels = LabelCheck::new(series, record)?;
    while let Some(ply) = replay.next_ply()? {
        let (thrown, recorded) =
            (dice::throw(&mut thrown, game.rolls(ply.state, ply.ply)), record.rolls[ply.ply]);
        if thrown != usize::from(recorded) {
            return refuse("wrong-dice", || {
                format!("ply {}: roll {recorded}, the series has {thrown}", ply.ply)
            });
        }
        if let Some(&wanted) = opening.get(ply.ply).filter(|&&wanted| wanted as usize != ply.play) {
            return refuse("wrong-opening", || {
                format!("ply {}: play {}, the opening has {wanted}", ply.ply, ply.play)
            });
        }
        labels.check_ply(game, &ply)?;
    }
    labels.finish()?;
    let plies = replay.plies();
    let payoff = replay.payoff().unwrap_or_default();
    if record.payoff != i32::from(payoff) {
        return refuse("wrong-result", || {
            format!("seat 0 has {} points; the replay gives {payoff}", record.payoff)
        });
    }
    check_exploration(series, record, plies)?;
    check_luck::<G::Chances>(series, record, plies)?;
    Ok(Checked { plies, payoff })
}

fn check_exploration(series: &Series, record: &GameRecord, plies: usize) -> Result<(), Violation> {
    let ascending = record.explored.windows(2).all(|pair| pair[0] < pair[1]);
    let within = record.explored.last().is_none_or(|&last| (last as usize) < plies);
    if !ascending || !within || (series.explore == 0.0 && !record.explored.is_empty()) {
        return refuse("bad-exploration", || format!("explored plies {:?} of {plies}", record.explored));
    }
    Ok(())
}

fn check_luck<C: Chances>(series: &Series, record: &GameRecord, plies: usize) -> Result<(), Violation> {
    let mode = series.luck();
    let length = if mode == LuckMode::LuckPositions { plies * C::LEN * 2 } else { 0 };
    if record.luck.len() != length {
        return refuse("luck-length", || format!("{} bytes of luck instead of {length}", record.luck.len()));
    }
    let beyond =
        record.luck.chunks_exact(2).position(|unit| i16::from_le_bytes([unit[0], unit[1]]) == i16::MIN);
    if let Some(number) = beyond {
        return refuse("luck-out-of-range", || format!("ply {}: luck beyond a certainty", number / C::LEN));
    }
    let bound = if mode == LuckMode::LuckTotal { series.luck_bound } else { 0.0 };
    if !record.total_luck.is_finite() {
        return refuse("luck-not-finite", || format!("total luck is {}", record.total_luck));
    }
    if record.total_luck.abs() > bound {
        return refuse("luck-out-of-range", || format!("total luck {} beyond {bound}", record.total_luck));
    }
    Ok(())
}

fn refuse<T>(reason: &'static str, detail: impl FnOnce() -> String) -> Result<T, Violation> {
    Err(Violation { reason, detail: detail() })
}

/// The digest of a record: the first 16 bytes of sha256 over all its other fields and over everything the game is a
/// function of. Numbers are little-endian, lists carry their length, so no two records have the same encoding.
pub fn digest<G: Game>(series: &Series, players: &[PlayerRef], record: &GameRecord) -> Vec<u8> {
    let mut encoding = Encoding(Vec::with_capacity(256 + record.luck.len() + 5 * record.rolls.len()));
    encoding.bytes(b"ludus game record 1");
    encoding.bytes(G::NAME.as_bytes());
    encoding.number(u64::from(G::REVISION));

    encoding.number(series.kind as u64);
    encoding.number(series.seed);
    encoding.number(u64::from(series.mirrored));
    encoding.number(series.luck as u64);
    encoding.real(series.explore);
    encoding.real(series.luck_bound);

    encoding.number(players.len() as u64);
    for player in players {
        match &player.who {
            Some(Who::Baseline(name)) => {
                encoding.number(1);
                encoding.bytes(name.as_bytes());
            }
            Some(Who::Weights(sha256)) => {
                encoding.number(2);
                encoding.bytes(sha256);
            }
            None => encoding.number(0),
        }
        encoding.number(u64::from(player.plies));
    }

    encoding.number(record.number);
    encoding.bytes(&record.rolls);
    encoding.list(&record.plays);
    encoding.number(record.payoff as u64);
    encoding.bytes(&record.luck);
    encoding.list(&record.explored);
    encoding.real(record.total_luck);
    if series.kind() == SeriesKind::Rollout {
        encoding.rollout(series, record);
    }
    // Series without these keep the digests they had before there were any, or before they meant what they mean now.
    if series.explore > 0.0 {
        encoding.bytes(b"explored whatever the choice");
    }
    if series.explore_margin > 0.0 {
        encoding.bytes(b"explore margin");
        encoding.real(series.explore_margin);
    }
    if series.shortlist > 0 {
        encoding.bytes(b"shortlist");
        encoding.number(u64::from(series.shortlist));
    }
    Sha256::digest(&encoding.0)[..16].to_vec()
}

struct Encoding(Vec<u8>);

impl Encoding {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn real(&mut self, number: f64) {
        // The negative zero becomes zero on the wire, so the two must not differ here.
        self.number((number + 0.0).to_bits());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// What only series of rollouts have.
    fn rollout(&mut self, series: &Series, record: &GameRecord) {
        let rollout = series.rollout.unwrap_or_default();
        self.number(u64::from(rollout.positions));
        self.real(rollout.margin);
        self.list(&[rollout.plays, rollout.trials, rollout.horizon]);
        if rollout.balanced {
            self.bytes(b"balanced");
        }
        // Decisions alone were what every series of rollouts with a margin drew, once.
        if rollout.margin > 0.0 && !rollout.decisions {
            self.bytes(b"drawn whatever the choice");
        }
        self.number(record.labels.len() as u64);
        for label in &record.labels {
            self.list(&[label.ply, label.play, label.trials]);
            let bits: Vec<u32> = label.chances.iter().map(|chance| (chance + 0.0).to_bits()).collect();
            self.list(&bits);
            self.list(&[(label.error + 0.0).to_bits()]);
        }
    }

    fn list(&mut self, numbers: &[u32]) {
        self.number(numbers.len() as u64);
        for number in numbers {
            self.0.extend_from_slice(&number.to_le_bytes());
        }
    }
}

mod labels;
#[cfg(test)]
mod tests;
