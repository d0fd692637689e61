//! Old rows that may go, or be one where they were many.

use rusqlite::{Connection, Result, params};

use super::row_number;
use super::write::Writer;

/// Games deleted in one step, so that nobody waits long for the database.
const AT_A_TIME: u32 = 20_000;

/// The series of decided gates whose games may be deleted: not of the newest `keep` of a run, the candidate was not
/// promoted, and no game is out that could come late.
pub(crate) fn expendable_gates(connection: &Connection, keep: usize) -> Result<Vec<u64>> {
    let sql = "
        WITH decided AS (
            SELECT series, gates.run AS run, candidate, games_gone,
                   row_number() OVER (PARTITION BY gates.run ORDER BY series DESC) AS age
            FROM gates WHERE decided_at IS NOT NULL
        )
        SELECT series FROM decided JOIN versions ON versions.run = decided.run AND version = candidate
        WHERE age > ? AND state <> 'promoted'
          AND (games_gone = 0 OR EXISTS (SELECT 1 FROM gate_games WHERE gate_games.series = decided.series))
          AND NOT EXISTS (SELECT 1 FROM blocks WHERE blocks.series = decided.series)
        ORDER BY series";
    connection.prepare_cached(sql)?.query_map([row_number(keep as u64)], |row| row.get(0))?.collect()
}

impl Writer<'_> {
    /// Deletes some games of a decided gate, for ever. `false` when none is left.
    pub(crate) fn delete_gate_games(&self, series: u64) -> Result<bool> {
        // Said first, so that a gate of which only some are left is not taken for a damaged one.
        self.one("UPDATE gates SET games_gone = 1 WHERE series = ?", [series])?;
        let sql = "DELETE FROM gate_games WHERE series = ?1 AND number IN
                   (SELECT number FROM gate_games WHERE series = ?1 ORDER BY number LIMIT ?2)";
        Ok(self.connection().prepare_cached(sql)?.execute(params![series, AT_A_TIME])? > 0)
    }

    /// Makes one row of all that say the same about whose games a run has taken: those of a token before the version
    /// `latest` came, but for leases that are still out or have a game that waits for its audit. Lineage asks for no more.
    pub(crate) fn merge_origins(&self, run: i64, latest: u64) -> Result<()> {
        // Not all that came after an open one: a run that was stopped leaves leases open for ever.
        let open = "SELECT lease FROM blocks UNION SELECT lease FROM audits";
        let old = format!("run = {run} AND latest < {latest} AND count > 0 AND lease NOT IN ({open})");
        // Where there are several, the row of the first lease stays. It has no place in its series any more, nor has one that
        // was alone, so neither is looked at again: two rows of a kind may come of a lease that was out meanwhile.
        self.connection().execute_batch(&format!(
            "CREATE TEMP TABLE merged AS
                 SELECT min(lease) AS lease, token, run, series, latest, marked, sum(games) AS games
                 FROM origins WHERE {old} GROUP BY token, series, latest, marked HAVING count(*) > 1;
             DELETE FROM origins WHERE {old} AND (token, series, latest, marked) IN
                 (SELECT token, series, latest, marked FROM merged);
             INSERT INTO origins (lease, token, run, series, first, count, games, latest, marked)
                 SELECT lease, token, run, series, 0, 0, games, latest, marked FROM merged;
             DROP TABLE merged;
             UPDATE origins SET first = 0, count = 0 WHERE {old};"
        ))
    }
}
