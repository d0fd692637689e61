//! The tables of the database, and how an older database becomes a newer one.

use rusqlite::Connection;

/// What SQLite's header says of our files: "LUDc" in ASCII.
pub(super) const APPLICATION_ID: i64 = 0x4C55_4463;

/// Each makes the format after it: `MIGRATIONS[0]` turns an empty file into format 1. Never change one that was
/// released; add another.
pub(super) const MIGRATIONS: &[&str] = &[FORMAT_1, FORMAT_2, FORMAT_3, FORMAT_4];

/// The newest format this program knows.
pub(super) const FORMAT: i64 = MIGRATIONS.len() as i64;

const FORMAT_1: &str = "
-- Numbers that are used once in the whole folder: the next lease and the next series.
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counters VALUES ('lease', 1), ('series', 1);

CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    stream TEXT NOT NULL,
    revision INTEGER NOT NULL,          -- of the game's rules
    config TEXT NOT NULL,               -- complete, as TOML
    active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,        -- seconds since 1970, as everywhere but in deadlines
    champion INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,
    trainer TEXT NOT NULL DEFAULT '',
    progress BLOB NOT NULL DEFAULT x''  -- ludus.v1.Progress of the last report
) STRICT;

CREATE TABLE versions (
    run INTEGER NOT NULL REFERENCES runs,
    version INTEGER NOT NULL,
    state TEXT NOT NULL,
    sha256 BLOB NOT NULL,
    parent BLOB NOT NULL,
    size INTEGER NOT NULL,
    published_at INTEGER NOT NULL,
    progress BLOB NOT NULL,
    PRIMARY KEY (run, version),
    UNIQUE (run, sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX versions_by_sha256 ON versions (sha256);

CREATE TABLE series (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs,
    settings BLOB NOT NULL,             -- ludus.v1.Series
    next INTEGER NOT NULL DEFAULT 0,
    accepted INTEGER NOT NULL DEFAULT 0,
    void INTEGER NOT NULL DEFAULT 0,
    unplayable INTEGER NOT NULL DEFAULT 0, -- of the void games
    ended TEXT                          -- why it hands out nothing more; NULL while it does
) STRICT;

CREATE TABLE blocks (
    lease INTEGER PRIMARY KEY,
    series INTEGER NOT NULL REFERENCES series,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    seat0 BLOB NOT NULL,                -- ludus.v1.PlayerRef
    seat1 BLOB NOT NULL,
    token INTEGER NOT NULL,
    holder TEXT NOT NULL,
    since INTEGER NOT NULL,             -- milliseconds since 1970
    deadline INTEGER NOT NULL,
    asked INTEGER NOT NULL,             -- games that were missing when it was issued last
    done BLOB NOT NULL
) STRICT;
CREATE INDEX blocks_by_series ON blocks (series);

-- Accepted games that the trainer has not reported settled; the streams have them up to the counter 'posted'.
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL REFERENCES runs,
    payload BLOB NOT NULL
) STRICT;

CREATE TABLE gates (
    series INTEGER PRIMARY KEY REFERENCES series,
    run INTEGER NOT NULL REFERENCES runs,
    candidate INTEGER NOT NULL,
    opponent INTEGER NOT NULL,          -- 0: the baseline random
    alpha REAL NOT NULL,
    beta REAL NOT NULL,
    delta REAL NOT NULL,
    limit_pairs INTEGER NOT NULL,
    bound REAL NOT NULL,
    started_at INTEGER NOT NULL,
    benchmark TEXT,                     -- what the benchmark condition found; NULL while it is due
    decided_at INTEGER,
    summary BLOB                        -- ludus.v1.GateStatus with the verdict; NULL while it runs
) STRICT;
CREATE INDEX gates_by_run ON gates (run);

-- Every game of every gate: the log that a verdict can be recomputed from.
CREATE TABLE gate_games (
    series INTEGER NOT NULL REFERENCES gates,
    number INTEGER NOT NULL,
    payoff INTEGER NOT NULL,            -- of the candidate
    luck REAL NOT NULL,                 -- of the candidate, 0 without luck adjustment
    late INTEGER NOT NULL,              -- came after the verdict and was not counted
    PRIMARY KEY (series, number)
) STRICT, WITHOUT ROWID;

-- What trainers reported, for the learning curves.
CREATE TABLE reports (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs,
    at INTEGER NOT NULL,
    accepted INTEGER NOT NULL,
    progress BLOB NOT NULL
) STRICT;
CREATE INDEX reports_by_run ON reports (run, id);

CREATE TABLE refusals (
    run INTEGER NOT NULL,               -- 0: of no run
    reason TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (run, reason)
) STRICT, WITHOUT ROWID;
";

const FORMAT_2: &str = "
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY,             -- from 1; 0 stands for nobody
    name TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,          -- sha256 of the secret, which is nowhere
    created_at INTEGER NOT NULL,
    standing TEXT NOT NULL DEFAULT 'active',
    reason TEXT NOT NULL DEFAULT '',
    accepted INTEGER NOT NULL DEFAULT 0,
    faults INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Tokens that a block was issued to, 8 bytes each, little-endian; the latest is the last. None: anybody.
ALTER TABLE blocks ADD COLUMN owners BLOB NOT NULL DEFAULT x'';

-- Whose games were accepted. Games of workers in the coordinator's process are not here.
CREATE TABLE origins (
    lease INTEGER NOT NULL,
    token INTEGER NOT NULL,             -- 0: nobody had to show one
    run INTEGER NOT NULL,
    series INTEGER NOT NULL,
    first INTEGER NOT NULL,             -- of the lease's block, with its count
    count INTEGER NOT NULL,
    games INTEGER NOT NULL,             -- accepted under the token
    latest INTEGER NOT NULL,            -- newest version at that moment: later ones may have learnt from them
    marked INTEGER NOT NULL DEFAULT 0,  -- an audit found a forged game of the token
    PRIMARY KEY (lease, token)
) STRICT, WITHOUT ROWID;
CREATE INDEX origins_by_token ON origins (token);
CREATE INDEX origins_by_run ON origins (run);

-- Games that wait to be played again.
CREATE TABLE audits (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    series INTEGER NOT NULL REFERENCES series,
    lease INTEGER NOT NULL,
    token INTEGER NOT NULL,
    number INTEGER NOT NULL,
    seat0 BLOB NOT NULL,
    seat1 BLOB NOT NULL,
    record BLOB                         -- ludus.v1.GameRecord; NULL: said to be unplayable
) STRICT;

CREATE TABLE audit_results (
    run INTEGER NOT NULL,
    result TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (run, result)
) STRICT, WITHOUT ROWID;
";

const FORMAT_3: &str = "
-- Games that are kept to be looked at.
CREATE TABLE kept_games (
    series INTEGER NOT NULL,
    number INTEGER NOT NULL,
    run INTEGER NOT NULL,
    kind TEXT NOT NULL,                 -- self-play or rollout
    seat0 BLOB NOT NULL,                -- ludus.v1.PlayerRef
    seat1 BLOB NOT NULL,
    record BLOB NOT NULL,               -- ludus.v1.GameRecord without luck and labels
    version INTEGER NOT NULL,           -- that played it
    at INTEGER NOT NULL,
    stays INTEGER NOT NULL,             -- the first of its version
    PRIMARY KEY (series, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX kept_games_by_run ON kept_games (run, stays, at);
CREATE INDEX kept_games_by_version ON kept_games (run, version);

-- Error rates of versions on the run's benchmark, in millipoints a decision.
CREATE TABLE scores (
    run INTEGER NOT NULL REFERENCES runs,
    version INTEGER NOT NULL,
    class TEXT NOT NULL,
    decisions INTEGER NOT NULL,
    er REAL NOT NULL,
    se REAL,
    PRIMARY KEY (run, version, class)
) STRICT, WITHOUT ROWID;

-- Promoted versions against opponents that stay the same: for the strength curve, and for nothing else.
CREATE TABLE meetings (
    run INTEGER NOT NULL REFERENCES runs,
    version INTEGER NOT NULL,
    opponent TEXT NOT NULL,             -- a baseline, or v3
    pairs INTEGER NOT NULL,
    ppg REAL NOT NULL,
    low REAL NOT NULL,                  -- anytime-valid interval at 0.95
    high REAL NOT NULL,
    PRIMARY KEY (run, version, opponent)
) STRICT, WITHOUT ROWID;
";

const FORMAT_4: &str = "
-- Its games were deleted, some time after the verdict.
ALTER TABLE gates ADD COLUMN games_gone INTEGER NOT NULL DEFAULT 0;
-- Rows of single leases, of which one is made where that does.
CREATE INDEX origins_of_leases ON origins (run, latest) WHERE count > 0;
";

/// The file's format: 0 for an empty file.
pub(super) fn format_of(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Brings an empty or older database to [`FORMAT`], each step in a transaction.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let from = format_of(connection)?;
    for (format, migration) in (from..).zip(&MIGRATIONS[from as usize..]) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(migration)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", format + 1)?;
        transaction.commit()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_the_first_format_goes_on_with_its_leases_open_to_anybody() {
        let mut old = Connection::open_in_memory().expect("opens");
        old.execute_batch(FORMAT_1).expect("the old tables");
        old.execute_batch(
            "INSERT INTO runs (id, name, stream, revision, config, active, created_at) VALUES (1, 'r', 's', 1, '', 1, 1);
             INSERT INTO series (id, run, settings, next) VALUES (1, 1, x'', 8);
             INSERT INTO blocks VALUES (1, 1, 0, 8, x'', x'', 7, 'w', 1, 2, 8, x'00');",
        )
        .expect("rows");
        old.pragma_update(None, "application_id", APPLICATION_ID).expect("ours");
        old.pragma_update(None, "user_version", 1).expect("format 1");
        migrate(&mut old).expect("brought up to date");
        let owners: Vec<u8> =
            old.query_row("SELECT owners FROM blocks", [], |row| row.get(0)).expect("a block");
        assert!(owners.is_empty());
        assert_eq!(format_of(&old).expect("a format"), FORMAT);
    }
}
