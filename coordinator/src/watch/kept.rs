//! Games that are kept to be looked at: now and then one of those that are learnt from, and for ever one of each version.
//! Games of gates need not be kept, for they can be played again from their number.

use ludus_players::weight_file::Digest;
use ludus_proto::v1::player_ref::Who;
use ludus_proto::v1::{GameRecord, PlayerRef, Series as SeriesSettings};
use prost::Message;
use rusqlite::{Connection, OptionalExtension, Result, params};
use serde::Serialize;

use super::leased::kind_word;
use crate::book::{Players, Run, RunId};
use crate::coordinator::Shared;
use crate::leases::Millis;
use crate::store::row_number;
use crate::store::write::Writer;
use crate::{CoordinatorError, status};

/// Seconds between two games that are kept.
const PAUSE: u64 = 3;
/// Games of a run that are kept besides the first of each version; older ones make room.
const MOST: u64 = 200;
/// Most games in a list.
const LISTED: u64 = 100;

/// A game that can be looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ListedGame {
    /// Its series.
    pub series: u64,
    /// Its number in the series.
    pub number: u64,
    /// What it was for: `self-play`, `rollout` or `gate`.
    pub kind: &'static str,
    /// Who sat in seat 0 and seat 1.
    pub players: [String; 2],
    /// Points of seat 0.
    pub payoff: i32,
    /// Seconds since 1970 at which it was accepted; `null` for games of gates, which are played again when asked for.
    pub at: Option<u64>,
}

/// Keeps a game, if one is due. `players` played it.
pub(crate) fn keep(
    run: &Run,
    writer: &Writer<'_>,
    series: &SeriesSettings,
    players: &Players,
    game: &GameRecord,
    now: Millis,
) -> Result<()> {
    let (connection, now) = (writer.connection(), now / 1000);
    let version = version_of(run, &players[0]);
    let sql = "SELECT max(at) FROM kept_games WHERE run = ?";
    let last: Option<u64> = connection.prepare_cached(sql)?.query_row([run.id], |row| row.get(0))?;
    if last.is_some_and(|last| last <= now && now < last + PAUSE) {
        return Ok(());
    }
    let sql = "SELECT NOT EXISTS (SELECT 1 FROM kept_games WHERE run = ? AND version = ?)";
    let first: bool =
        connection.prepare_cached(sql)?.query_row(params![run.id, version], |row| row.get(0))?;
    let [seat0, seat1] = players.each_ref().map(Message::encode_to_vec);
    // The labels of a rollout are no part of how it was played, and take room.
    let game = GameRecord { labels: Vec::new(), luck: Vec::new(), ..game.clone() };
    let sql = "INSERT OR IGNORE INTO kept_games (series, number, run, kind, seat0, seat1, record, version, at, stays)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let kind = kind_word(series.kind());
    connection.prepare_cached(sql)?.execute(params![
        series.id,
        game.number,
        run.id,
        kind,
        seat0,
        seat1,
        game.encode_to_vec(),
        version,
        now,
        first
    ])?;
    let sql = "DELETE FROM kept_games WHERE run = ?1 AND stays = 0 AND at <
                   (SELECT at FROM kept_games WHERE run = ?1 AND stays = 0 ORDER BY at DESC LIMIT 1 OFFSET ?2)";
    connection.prepare_cached(sql)?.execute(params![run.id, MOST - 1])?;
    Ok(())
}

/// The version of a run that a player is, 0 for none.
fn version_of(run: &Run, player: &PlayerRef) -> u64 {
    let Some(Who::Weights(sum)) = &player.who else { return 0 };
    let Ok(sum) = <[u8; 32]>::try_from(&sum[..]) else { return 0 };
    run.versions
        .iter()
        .rev()
        .find(|version| version.sha256 == Digest(sum))
        .map_or(0, |version| version.number)
}

/// A player as people know it.
pub(crate) fn name_of(run: &Run, player: &PlayerRef) -> String {
    match (version_of(run, player), &player.who) {
        (0, Some(Who::Baseline(name))) => name.clone(),
        (0, _) => "unknown".into(),
        (version, _) => format!("v{version}"),
    }
}

/// A kept game whole.
pub(crate) struct KeptGame {
    pub kind: String,
    pub players: Players,
    pub record: GameRecord,
    pub at: u64,
}

/// A game that was kept, if it was.
pub(crate) fn find(
    connection: &Connection,
    run: RunId,
    series: u64,
    number: u64,
) -> Result<Option<KeptGame>> {
    let sql =
        "SELECT kind, seat0, seat1, record, at FROM kept_games WHERE run = ? AND series = ? AND number = ?";
    connection
        .prepare_cached(sql)?
        .query_row(params![run, row_number(series), row_number(number)], kept)
        .optional()
}

fn kept(row: &rusqlite::Row<'_>) -> Result<KeptGame> {
    fn read<M: Message + Default>(row: &rusqlite::Row<'_>, column: usize) -> Result<M> {
        M::decode(&row.get::<_, Vec<u8>>(column)?[..]).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Blob, error.into())
        })
    }
    Ok(KeptGame {
        kind: row.get(0)?,
        players: [read(row, 1)?, read(row, 2)?],
        record: read(row, 3)?,
        at: row.get(4)?,
    })
}

impl Shared {
    /// The games of a run that can be looked at: the newest kept ones, or with `gate` the first of this candidate's last
    /// gate.
    pub(crate) fn listed_games(
        &self,
        run: &str,
        gate: Option<u64>,
    ) -> std::result::Result<Vec<ListedGame>, CoordinatorError> {
        let state = self.lock()?;
        let run = status::find(state.book(), run)?;
        match gate {
            Some(candidate) => state.query(|connection| of_gate(connection, run, candidate)),
            None => state.query(|connection| newest(connection, run)),
        }
    }
}

fn newest(connection: &Connection, run: &Run) -> Result<Vec<ListedGame>> {
    let sql = "SELECT kind, seat0, seat1, record, at, series FROM kept_games WHERE run = ? ORDER BY at DESC LIMIT ?";
    let mut statement = connection.prepare_cached(sql)?;
    let games = statement.query_map(params![run.id, LISTED], |row| {
        let KeptGame { kind, players, record, at } = kept(row)?;
        Ok(ListedGame {
            series: row.get(5)?,
            number: record.number,
            kind: if kind == "rollout" { "rollout" } else { "self-play" },
            players: players.each_ref().map(|player| name_of(run, player)),
            payoff: record.payoff,
            at: Some(at),
        })
    })?;
    games.collect()
}

fn of_gate(connection: &Connection, run: &Run, candidate: u64) -> Result<Vec<ListedGame>> {
    let sql =
        "SELECT series, opponent FROM gates WHERE run = ? AND candidate = ? ORDER BY series DESC LIMIT 1";
    let gate: Option<(u64, u64)> = connection
        .prepare_cached(sql)?
        .query_row(params![run.id, candidate], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((series, opponent)) = gate else { return Ok(Vec::new()) };
    let opponent = match opponent {
        0 => crate::series::FIRST_OPPONENT.to_owned(),
        version => format!("v{version}"),
    };
    let sql = "SELECT number, payoff FROM gate_games WHERE series = ? ORDER BY number LIMIT ?";
    let mut statement = connection.prepare_cached(sql)?;
    let games = statement.query_map(params![series, LISTED], |row| {
        Ok(ListedGame {
            series,
            number: row.get(0)?,
            kind: "gate",
            players: [format!("v{candidate}"), opponent.clone()],
            payoff: row.get(1)?,
            at: None,
        })
    })?;
    games.collect()
}
