//! Lineage: whose games a version may have learnt from.

use std::collections::BTreeMap;

use ludus_proto::v1::{Contribution, VersionLineage};
use rusqlite::Connection;

use crate::book::{Book, Run};
use crate::store::knows_tokens;
use crate::store::tokens::{Share, shares};

/// The versions of a run, oldest first, each with the tokens whose games were accepted before it was published. That is
/// an upper bound: of the last of these games the trainer may not have been told by then.
pub(crate) fn of_run(
    connection: &Connection,
    book: &Book,
    run: &Run,
) -> rusqlite::Result<Vec<VersionLineage>> {
    let shares = if knows_tokens(connection)? { shares(connection, run.id)? } else { Vec::new() };
    let lineage = run.versions.iter().map(|version| VersionLineage {
        version: version.number,
        sha256: version.sha256.0.to_vec(),
        parent: version.parent.clone(),
        learnt: sum(book, &shares, |share| share.candidate.is_none() && share.latest < version.number),
        gate: sum(book, &shares, |share| share.candidate == Some(version.number)),
    });
    Ok(lineage.collect())
}

/// What each token has contributed, by name.
fn sum(book: &Book, shares: &[Share], belongs: impl Fn(&Share) -> bool) -> Vec<Contribution> {
    let mut sums = BTreeMap::<&str, (u64, u64)>::new();
    for share in shares.iter().filter(|share| belongs(share)) {
        let token = book.tokens.0.get(&share.token).map_or("", |token| &token.name);
        let (games, marked) = sums.entry(token).or_default();
        *games += share.games;
        *marked += share.marked;
    }
    let contribution =
        |(token, (games, marked)): (&str, (u64, u64))| Contribution { token: token.into(), games, marked };
    sums.into_iter().map(contribution).collect()
}
