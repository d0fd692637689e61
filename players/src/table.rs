//! A table: where the games of one series are played, each from its number alone.

use ludus_games::{Game, Plays};
use ludus_proto::v1::{GameRecord, LuckMode, PlayerRef, Rollout, Series, SeriesKind};

use crate::arena::{ArenaError, PlayError, Table};
use crate::dice;
use crate::luck::{BoundedLuck, Fan, append_luck};
use crate::openings::Openings;
use crate::player::Player;
use crate::record::{digest, seat_at};
use crate::rivals::explore;
use crate::rollout::Rollouts;
use crate::shortlist::Listed;

/// Plies after which a game is given up: some hundred times the usual length, so that only players who avoid the end
/// for ever meet it.
pub const MAX_PLIES: usize = 20_000;

/// The table of one series. Game `number` is a pure function of the series' seed and settings, the players and
/// `number`; the order in which games are played, and what was played before, make no difference.
pub struct SeriesTable<G: Game> {
    game: G,
    series: Series,
    refs: [PlayerRef; 2],
    seated: Seated<G>,
    /// Index in `seated.players` of the player whose evaluator measures luck, when the series asks for luck.
    measure: Option<usize>,
    /// What the games of matches begin with, in a game without dice.
    openings: Option<&'static Openings>,
    plays: Plays<G>,
    fan: Fan<G>,
    /// Memory for judging the plays to explore.
    judged: Vec<G::Chances>,
    /// Memory for plays on a shortlist.
    listed: Listed<G>,
    /// What labels the positions of a game, in a series of rollouts.
    rollouts: Option<Rollouts<G>>,
    /// The positions of the game at hand, for the rollouts.
    states: Vec<G::State>,
}

/// Who sits where. In self-play both seats share one player, and so its evaluator and what it has judged.
pub struct Seated<G: Game> {
    players: Vec<Box<dyn Player<G>>>,
    /// Index in `players` of each seat's player.
    seats: [usize; 2],
}

impl<G: Game> Seated<G> {
    /// One player in both seats.
    pub fn alone(player: Box<dyn Player<G>>) -> Self {
        Seated { players: vec![player], seats: [0, 0] }
    }

    /// Two players, in seat 0 and seat 1.
    pub fn opposed(players: [Box<dyn Player<G>>; 2]) -> Self {
        Seated { players: players.into(), seats: [0, 1] }
    }
}

impl<G: Game> SeriesTable<G> {
    /// A table for `series`; `refs` name the players of seat 0 and seat 1, for the records.
    ///
    /// Refuses settings that make no sense together, and luck without an evaluator to measure it.
    pub fn new(
        game: G,
        series: &Series,
        refs: [PlayerRef; 2],
        mut seated: Seated<G>,
    ) -> Result<Self, ArenaError> {
        check_settings(series, &refs)?;
        let mut measure = None;
        if series.luck() != LuckMode::LuckNone {
            measure = seated.players.iter_mut().position(|player| player.evaluator().is_some());
            if measure.is_none() {
                let [first, second] = &refs;
                return Err(ArenaError::Settings(format!(
                    "luck is measured with a player's evaluator, and neither {} nor {} has one; \
                     play without luck, or with a network in one seat",
                    describe(first),
                    describe(second)
                )));
            }
        }
        if series.explore > 0.0 && series.explore_margin > 0.0 && seated.players[0].evaluator().is_none() {
            return Err(ArenaError::Settings(format!(
                "plays are drawn from those that a player's evaluator judges near the best, and {} has none; set \
                 explore_margin to 0, or play with a network",
                describe(&refs[0])
            )));
        }
        let mut rollouts = None;
        if series.kind() == SeriesKind::Rollout {
            if seated.players[0].evaluator().is_none() {
                return Err(ArenaError::Settings(format!(
                    "positions are rolled out with a player's evaluator, and {} has none; roll out with a network",
                    describe(&refs[0])
                )));
            }
            rollouts = series.rollout.map(|settings| Rollouts::new(game, series, settings));
        }
        let (plays, fan, states) = (Plays::new(), Fan::default(), Vec::new());
        Ok(SeriesTable {
            game,
            series: *series,
            refs,
            seated,
            measure,
            openings: None,
            plays,
            fan,
            judged: Vec::new(),
            listed: Listed::default(),
            rollouts,
            states,
        })
    }

    /// The same table, at which the games of matches begin with these openings.
    pub fn opened_by(mut self, openings: Option<&'static Openings>) -> Self {
        self.openings = openings;
        self
    }
}

impl<G: Game> Table for SeriesTable<G> {
    fn play(&mut self, number: u64) -> Result<GameRecord, PlayError> {
        let SeriesTable { game, series, .. } = self;
        let mut dice = dice::rolls_of(series, number);
        let mut choices = [0, 1].map(|seat| dice::choices_of(series, number, seat));
        let opening = self.openings.map_or(&[][..], |openings| openings.of(series, number));
        let mut luck = BoundedLuck::new(series.luck_bound);
        let mut record = GameRecord { number, ..GameRecord::default() };
        let mut state = game.start();
        self.states.clear();
        for ply in 0..MAX_PLIES {
            let seat = seat_at(number, ply);
            let sign: i8 = if seat == 0 { 1 } else { -1 };
            if self.rollouts.is_some() {
                self.states.push(state.clone());
            }
            if let Some(points) = game.payoff(&state) {
                record.payoff = i32::from(sign * points);
                if series.luck() == LuckMode::LuckTotal {
                    record.total_luck = luck.total();
                }
                if let Some(rollouts) = &mut self.rollouts {
                    // Self-play: the player of both seats.
                    let player = &mut *self.seated.players[0];
                    record.labels = rollouts.labels(player, &record, &self.states)?;
                }
                record.digest = digest::<G>(series, &self.refs, &record);
                return Ok(record);
            }
            let rolls = game.rolls(&state, ply);
            let thrown = dice::throw(&mut dice, rolls);
            let (roll, _) = rolls[thrown];
            let player = self.seated.seats[seat];

            // What the evaluator judged for the luck of the roll also serves the choice of the play.
            let (plays, judged) = if let Some(measure) = self.measure {
                let Some(evaluator) = self.seated.players[measure].evaluator() else {
                    return Err(PlayError::NoEvaluator { number });
                };
                self.fan.measure(*game, &state, rolls, evaluator);
                let points = self.fan.points();
                let finite = if series.luck() == LuckMode::LuckPositions {
                    append_luck(&self.fan.luck(thrown), &mut record.luck).is_some()
                } else {
                    let sign = f64::from(sign);
                    luck.add(points.iter().map(|points| sign * points), sign * points[thrown]);
                    points.iter().all(|points| points.is_finite())
                };
                if !finite {
                    return Err(PlayError::NotFinite { number, ply });
                }
                (self.fan.plays(thrown), if measure == player { self.fan.judged(thrown) } else { None })
            } else {
                game.plays(&state, roll, &mut self.plays);
                (&self.plays, None)
            };

            let choices = &mut choices[seat];
            let mut drawn = None;
            let explores = series.explore > 0.0 && dice::unit(choices) < series.explore;
            if explores {
                // Recorded whatever there is to choose: what is recorded is not learnt, and if rolls that leave no choice were
                // exempt, they would be learnt more often than they come, and every position before a roll misjudged for it.
                record.explored.push(ply as u32);
            }
            if explores && plays.len() > 1 {
                let player = self.seated.players[player].as_mut();
                let place = (number, ply);
                drawn =
                    explore(series.explore_margin, player, plays, judged, &mut self.judged, choices, place)?;
            }
            let play = if let Some(&play) = opening.get(ply) {
                play as usize
            } else if let Some(play) = drawn {
                play
            } else if plays.len() == 1 {
                0
            } else {
                let player = &mut self.seated.players[player];
                let choice = match judged {
                    Some(judged) => player.choose_judged(&state, roll, plays, judged, choices),
                    None if series.shortlist > 0 => {
                        let (most, ply) = (series.shortlist as usize, (&state, roll, plays));
                        self.listed.choose(most, player.as_mut(), ply, choices)
                    }
                    None => player.choose(&state, roll, plays, choices),
                };
                if let Some(trouble) = player.trouble() {
                    return Err(PlayError::Outside { number, ply, trouble });
                }
                choice
            };
            record.rolls.push(thrown as u8);
            record.plays.push(play as u32);
            state.clone_from(&plays.after[play]);
        }
        Err(PlayError::TooLong { number, plies: MAX_PLIES })
    }

    fn evaluated(&mut self) -> u64 {
        let evaluators = self.seated.players.iter_mut().filter_map(|player| player.evaluator());
        evaluators.map(|evaluator| evaluator.evaluated()).sum()
    }
}

/// Whether the settings of a series make sense together and with its players.
fn check_settings(series: &Series, refs: &[PlayerRef; 2]) -> Result<(), ArenaError> {
    let refuse = |reason: String| Err(ArenaError::Settings(reason));
    let self_play = match SeriesKind::try_from(series.kind) {
        Ok(SeriesKind::SelfPlay | SeriesKind::Rollout) => true,
        Ok(SeriesKind::Gate) => false,
        _ => return refuse(format!("a series of kind {}, which this program does not know", series.kind)),
    };
    let Ok(luck) = LuckMode::try_from(series.luck) else {
        return refuse(format!("luck mode {}, which this program does not know", series.luck));
    };
    if self_play && refs[0] != refs[1] {
        return refuse("self-play needs the same player in both seats".into());
    }
    if !(0.0..=1.0).contains(&series.explore) {
        return refuse(format!("explore = {} is not a probability", series.explore));
    }
    if !series.explore_margin.is_finite() || series.explore_margin < 0.0 {
        return refuse(format!("explore_margin = {} must be 0 or more points", series.explore_margin));
    }
    if !self_play && series.explore > 0.0 {
        return refuse(format!("explore = {} in a match; only self-play explores", series.explore));
    }
    if !self_play && series.shortlist > 0 {
        return refuse(format!("shortlist = {} in a match; its players look at all plays", series.shortlist));
    }
    if self_play && series.mirrored && series.explore == 0.0 {
        return refuse(
            "mirrored self-play without exploration plays every game twice; set explore above 0, or variance to none or luck"
                .into(),
        );
    }
    if luck == LuckMode::LuckTotal && (series.luck_bound.is_nan() || series.luck_bound <= 0.0) {
        return refuse(format!("luck_bound = {} must be above 0", series.luck_bound));
    }
    if series.kind() == SeriesKind::Rollout {
        check_rollout(series.rollout.as_ref()).map_err(ArenaError::Settings)?;
    }
    Ok(())
}

/// Whether the settings of rollouts make sense.
fn check_rollout(rollout: Option<&Rollout>) -> Result<(), String> {
    let Some(rollout) = rollout else {
        return Err("a series of rollouts that does not say what to roll out".into());
    };
    if rollout.positions == 0 {
        return Err("positions = 0 rolls out nothing; at least 1 is needed".into());
    }
    if rollout.trials == 0 {
        return Err("trials = 0 says nothing about a position; at least 1 is needed".into());
    }
    if !rollout.margin.is_finite() || rollout.margin < 0.0 {
        return Err(format!("margin = {} must be 0 or more points", rollout.margin));
    }
    if rollout.margin > 0.0 && rollout.plays < 2 {
        return Err(format!(
            "plays = {} leaves no rivals to roll out; 2 or more, or margin = 0",
            rollout.plays
        ));
    }
    Ok(())
}

/// A player reference for people.
pub fn describe(player: &PlayerRef) -> String {
    use ludus_proto::v1::player_ref::Who;
    match &player.who {
        Some(Who::Baseline(name)) => name.clone(),
        Some(Who::Weights(sha256)) => {
            let hex: String = sha256.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
            format!("weights {hex}")
        }
        None => "nobody".into(),
    }
}

#[cfg(test)]
mod tests;
