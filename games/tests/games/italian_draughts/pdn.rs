//! Games of draughts as text.

use ludus_games::italian_draughts::{PdnGame, PdnResult, Position};
use ludus_games::{Game, ItalianDraughts, Plays};
use proptest::prelude::*;

const ITALIAN: &str = "\u{feff}[Evento \"Prova\"]\r\n[Bianco \"Rossi \\\"R\\\"\"]\r\n[Nero \"Bianchi\"]\r\n[Risultato \"1-0\"]\r\n\r\n\
1.23-19! {ein [Kommentar]} 10-14 (1... 11-15 2. 19-12) 2. 19x10 $1 5x14 1-0\r\n\r\n\
[White \"a\"]\r\n[GameType \"22,W,8,8,N2,1\"]\r\n[FEN \"B:WK1:B24\"]\r\n; remark\r\n1... 24-28 *\r\n";

#[test]
fn pdn_of_italian_programs_is_read() {
    let games = PdnGame::read_all(ITALIAN).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(games.len(), 2);
    let first = &games[0];
    assert_eq!((first.tag("White"), first.tag("Event")), (Some("Rossi \"R\""), Some("Prova")));
    assert_eq!((first.plays.len(), first.result), (4, PdnResult::White));
    assert_eq!((games[1].plays.len(), games[1].result), (1, PdnResult::Unknown));
    assert_eq!(games[1].start.to_string(), "B:WK1:B24");
}

#[test]
fn games_are_read_as_they_were_written() {
    let games = PdnGame::read_all(ITALIAN).expect("two games");
    let text: String = games.iter().map(|game| game.write().expect("a legal game")).collect();
    assert!(text.contains("1. 23-19 10-14 2. 19x10 5x14 1-0\n"), "{text}");
    assert!(text.contains(
        "[Result \"*\"]\n[GameType \"22,W,8,8,N2,1\"]\n[SetUp \"1\"]\n[FEN \"B:WK1:B24\"]\n\n1... 24-28 *"
    ));
    assert_eq!(PdnGame::read_all(&text), Ok(games));
}

#[test]
fn a_game_with_an_illegal_play_is_not_written() {
    let mut game = PdnGame::read_all("1. 23-19 10-14 *").expect("a game").remove(0);
    // Nobody stands on 23 any more.
    let again = game.plays[0];
    game.plays.push(again);
    assert_eq!(game.write().map_err(|error| error.0), Err(3));
}

#[test]
fn wrong_pdn_is_refused_with_its_line_and_move() {
    for (text, reason) in [
        ("[White \"x\"]\n\n1. 23-19\n10-15", "line 4, game 1: move 2 of the game, 10-15: no legal play"),
        ("1. 23-19 *\n[GameType \"20\"]", "line 2, game 2: game type \"20\""),
        ("[White x]", "should be a tag"),
        ("[White \"x\"", "no ]"),
        ("{ for ever", "no }"),
        ("( ( )", "no )"),
        ("[FEN \"W:W1:B5\"]", "last row"),
    ] {
        let error = PdnGame::read_all(text).expect_err(text).to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_game_survives_its_pdn(choices in proptest::collection::vec(any::<prop::sample::Index>(), 0..120)) {
        let rules = ItalianDraughts::default();
        let mut game = PdnGame::new();
        let mut state = Position::start();
        let mut plays = Plays::new();
        for choice in choices {
            if rules.payoff(&state).is_some() {
                break;
            }
            rules.plays(&state, (), &mut plays);
            let index = choice.index(plays.len());
            game.plays.push(plays.moves[index]);
            state = plays.after[index].clone();
        }
        let text = game.write().expect("a legal game");
        prop_assert!(text.lines().all(|line| line.len() <= 80));
        prop_assert_eq!(PdnGame::read_all(&text), Ok(vec![game]));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,40}", at in any::<prop::sample::Index>()) {
        let _ = PdnGame::read_all(&text);
        let places: Vec<usize> = ITALIAN.char_indices().map(|(place, _)| place).collect();
        let mut damaged = ITALIAN.to_owned();
        damaged.insert_str(*at.get(&places), &text);
        let _ = PdnGame::read_all(&damaged);
    }
}
