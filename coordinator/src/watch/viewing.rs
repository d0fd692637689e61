//! A game or a position, looked at with the judgement of a version.

use std::sync::Arc;

use ludus_players::arena::{Arena, ArenaError, Seating, Source};
use ludus_players::viewer::{ShownGame, Study};
use ludus_players::weight_file::{Digest, WeightFile};
use ludus_proto::v1::player_ref::Who;
use ludus_proto::v1::{GameRecord, PlayerRef, Series as SeriesSettings};
use prost::Message;
use rusqlite::{OptionalExtension, params};
use serde::Serialize;

use super::kept::{self, KeptGame, name_of};
use crate::book::{Players, Run};
use crate::coordinator::Shared;
use crate::store::row_number;
use crate::{CoordinatorError, status};

/// A game with what it was and who judged it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ViewedGame {
    /// The run.
    pub run: String,
    /// The game that was played, such as `backgammon`.
    pub rules: String,
    /// Its series.
    pub series: u64,
    /// Its number in the series.
    pub number: u64,
    /// What it was for: `self-play`, `rollout` or `gate`.
    pub kind: String,
    /// Who sat in seat 0 and seat 1.
    pub players: [String; 2],
    /// Seconds since 1970 at which it was accepted, where that is known.
    pub at: Option<u64>,
    /// Whose judgement it is shown with; `null`: by the rules alone.
    pub judge: Option<String>,
    /// The game.
    #[serde(flatten)]
    pub game: ShownGame,
}

/// A position with who judged it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ViewedPosition {
    /// The run.
    pub run: String,
    /// The game, such as `backgammon`.
    pub rules: String,
    /// Whose judgement it is; `null`: none, for the run has no version.
    pub judge: Option<String>,
    /// What was found.
    #[serde(flatten)]
    pub study: Study,
}

/// A game to be shown, and what is needed for it.
enum Found {
    Kept(KeptGame),
    /// A game of a gate, which is played again.
    Gate {
        settings: SeriesSettings,
        players: Players,
    },
}

/// Whose judgement: a version by its weights.
struct Judge {
    name: String,
    sha256: Digest,
}

impl Shared {
    /// A game of a run, judged by version `judge`, or by the champion, or before there is one by the newest version.
    pub(crate) fn viewed_game(
        &self,
        run: &str,
        (series, number): (u64, u64),
        judge: Option<u64>,
    ) -> Result<ViewedGame, CoordinatorError> {
        let missing = || CoordinatorError::NoGame { run: run.to_owned(), series, number };
        let (arena, found, judge, mut viewed) = {
            let state = self.lock()?;
            let run = status::find(state.book(), run)?;
            let kept = state.query(|connection| kept::find(connection, run.id, series, number))?;
            let found = match kept {
                Some(kept) => Found::Kept(kept),
                None => {
                    let (settings, players) =
                        self.gate_game(&state, run, series, number)?.ok_or_else(missing)?;
                    Found::Gate { settings, players }
                }
            };
            let players = match &found {
                Found::Kept(KeptGame { players, .. }) | Found::Gate { players, .. } => players,
            };
            let (kind, at) = match &found {
                Found::Kept(kept) => (kept.kind.clone(), Some(kept.at)),
                Found::Gate { .. } => ("gate".to_owned(), None),
            };
            let names = players.each_ref().map(|player| name_of(run, player));
            let judge = judge_of(run, judge)?;
            let viewed = (run.name.clone(), run.config.game.clone(), kind, at, names);
            (self.arena(run)?.clone(), found, judge, viewed)
        };
        let record = match found {
            Found::Kept(kept) => kept.record,
            Found::Gate { settings, players } => {
                self.play_again(arena.as_ref(), &settings, &players, number)?
            }
        };
        let seating = judge.as_ref().map(|judge| self.judge(judge)).transpose()?;
        let mut viewer = arena.viewer(seating.as_ref()).map_err(told)?;
        let names = [&viewed.4[0], &viewed.4[1]].map(String::as_str);
        let game = viewer.game(&record, names).map_err(told)?;
        let (run, rules) = (std::mem::take(&mut viewed.0), std::mem::take(&mut viewed.1));
        let (_, _, kind, at, players) = viewed;
        let judge = judge.map(|judge| judge.name);
        Ok(ViewedGame { run, rules, series, number, kind, players, at, judge, game })
    }

    /// A position, judged by version `judge` of a run, or by its champion, or before there is one by its newest version.
    pub(crate) fn viewed_position(
        &self,
        run: &str,
        judge: Option<u64>,
        (position, roll): (&str, &str),
    ) -> Result<ViewedPosition, CoordinatorError> {
        let (arena, judge, run, rules) = {
            let state = self.lock()?;
            let run = status::find(state.book(), run)?;
            (self.arena(run)?.clone(), judge_of(run, judge)?, run.name.clone(), run.config.game.clone())
        };
        let seating = judge.as_ref().map(|judge| self.judge(judge)).transpose()?;
        let study = arena.viewer(seating.as_ref()).and_then(|mut viewer| viewer.position(position, roll));
        Ok(ViewedPosition { run, rules, judge: judge.map(|judge| judge.name), study: study.map_err(told)? })
    }

    /// The series and the players of a game of a gate, when it was played.
    fn gate_game(
        &self,
        state: &crate::state::State,
        run: &Run,
        series: u64,
        number: u64,
    ) -> Result<Option<(SeriesSettings, Players)>, CoordinatorError> {
        let row: Option<(Vec<u8>, u64, u64)> = state.query(|connection| {
            let sql =
                "SELECT settings, candidate, opponent FROM gates JOIN series ON series.id = gates.series
                       JOIN gate_games ON gate_games.series = gates.series
                       WHERE gates.run = ? AND gates.series = ? AND gate_games.number = ?";
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            let game = params![run.id, row_number(series), row_number(number)];
            connection.prepare_cached(sql)?.query_row(game, row).optional()
        })?;
        let Some((settings, candidate, opponent)) = row else { return Ok(None) };
        let settings = SeriesSettings::decode(&settings[..])
            .map_err(|error| CoordinatorError::Request(format!("series {series} cannot be read: {error}")))?;
        let players = crate::series::match_players(run, candidate, opponent);
        Ok(players.map(|players| (settings, players)))
    }

    fn play_again(
        &self,
        arena: &dyn Arena,
        settings: &SeriesSettings,
        players: &Players,
        number: u64,
    ) -> Result<GameRecord, CoordinatorError> {
        let seat = |player: &PlayerRef| -> Result<Seating, CoordinatorError> {
            let source = match &player.who {
                Some(Who::Weights(sum)) => self.source(sum)?,
                Some(Who::Baseline(name)) => Source::Baseline(name.clone()),
                None => return Err(CoordinatorError::Request("a seat has no player".into())),
            };
            Ok(Seating { source, plies: player.plies })
        };
        let seats = [seat(&players[0])?, seat(&players[1])?];
        let mut table = arena.table(settings, [&seats[0], &seats[1]]).map_err(told)?;
        table.play(number).map_err(|error| told(error.into()))
    }

    fn source(&self, sum: &[u8]) -> Result<Source, CoordinatorError> {
        let digest = <[u8; 32]>::try_from(sum).map(Digest);
        let digest = digest.map_err(|_| CoordinatorError::Request("a sha256 sum has 32 bytes".into()))?;
        let bytes = self.weights.read(digest)?;
        let file = WeightFile::from_bytes(&bytes, &digest.to_string()).map_err(|error| told(error.into()))?;
        Ok(Source::Weights { digest, file: Arc::new(file) })
    }

    fn judge(&self, judge: &Judge) -> Result<Seating, CoordinatorError> {
        Ok(Seating { source: self.source(&judge.sha256.0)?, plies: 0 })
    }
}

/// The version that judges.
fn judge_of(run: &Run, wanted: Option<u64>) -> Result<Option<Judge>, CoordinatorError> {
    let number = match wanted {
        Some(number) => number,
        None if run.champion > 0 => run.champion,
        None => run.latest(),
    };
    match run.version(number) {
        Some(version) => Ok(Some(Judge { name: format!("v{number}"), sha256: version.sha256 })),
        None if wanted.is_none() => Ok(None),
        None => Err(CoordinatorError::NoVersion {
            run: run.name.clone(),
            version: format!("v{number}"),
            known: format!("its newest is v{}", run.latest()),
        }),
    }
}

fn told(error: ArenaError) -> CoordinatorError {
    CoordinatorError::Request(error.to_string())
}
