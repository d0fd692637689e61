//! The player that comes with the program.

use ludus_players::arena::{Arena, Registry, Seating, Source};
use ludus_players::matches::{MatchSettings, play_match};

/// The arena of backgammon, and its shipped player at sight.
fn shipped(registry: &Registry) -> (&dyn Arena, Seating) {
    let arena = registry.find("backgammon").expect("backgammon comes with Ludus");
    let source = arena.shipped().expect("a player comes with backgammon");
    (&**arena, Seating { source, plies: 0 })
}

#[test]
fn it_beats_pubeval_by_more_than_half_a_point_a_game() {
    let registry = Registry::standard();
    let (arena, player) = shipped(&registry);
    let pubeval = Seating { source: Source::Baseline("pubeval".into()), plies: 0 };
    let settings = MatchSettings { pairs: 600, seed: 1, luck: false, threads: 2 };
    let report = play_match(arena, [&player, &pubeval], ["shipped", "pubeval"], &settings, &mut |_| ())
        .expect("a match");
    // The games are functions of the seed, so this is one number, and by three of its standard errors above a half.
    assert!(report.ppg > 0.5, "{report}");
}

#[test]
fn pubeval_retrained_by_listnet_beats_pubeval() {
    let registry = Registry::standard();
    let (arena, _) = shipped(&registry);
    let [retrained, published] = ["pubeval-listnet", "pubeval"]
        .map(|name| Seating { source: Source::Baseline(name.into()), plies: 0 });
    let settings = MatchSettings { pairs: 20_000, seed: 3, luck: false, threads: 2 };
    let names = ["pubeval-listnet", "pubeval"];
    let report = play_match(arena, [&retrained, &published], names, &settings, &mut |_| ()).expect("a match");
    assert!(report.ppg > 0.0, "{report}");
}

#[test]
fn the_benchmark_that_comes_with_it_tells_players_apart_in_every_class() {
    let registry = Registry::standard();
    let (arena, player) = shipped(&registry);
    let text = arena.shipped_benchmark().expect("a benchmark comes with backgammon");
    let pubeval = Seating { source: Source::Baseline("pubeval".into()), plies: 0 };
    let score = |name, seating| arena.score(("shipped", text), (name, seating), 2).expect("scored");
    let (ours, theirs) = (score("shipped", &player), score("pubeval", &pubeval));
    for (class, decisions) in [("contact", 300), ("crashed", 219), ("race", 300)] {
        let (ours, theirs) = (ours.classes[class], theirs.classes[class]);
        assert_eq!(ours.decisions, decisions);
        assert!(ours.er + 2.0 * ours.se.unwrap_or(0.0) < theirs.er, "{class}: {ours:?}, PubEval {theirs:?}");
    }
}

#[test]
fn it_opens_as_strong_players_do() {
    let registry = Registry::standard();
    let (arena, player) = shipped(&registry);
    let mut analyst = arena.analyst(Some(&player)).expect("it judges positions");
    for (dice, play) in [
        ("31", "8/5 6/5"),
        ("42", "8/4 6/4"),
        ("61", "13/7 8/7"),
        ("53", "8/3 6/3"),
        ("66", "24/18(2) 13/7(2)"),
    ] {
        let list = analyst.moves("4HPwATDgc/ABMA", dice).expect("the start of a game");
        assert_eq!(list.plays[0].play, play, "{dice}");
    }
}
