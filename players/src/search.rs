//! Looking ahead: evaluators that search, and players that choose by them.

use ludus_games::{Chances, Game, Plays};
use rand_chacha::ChaCha8Rng;

use crate::dice;
use crate::luck::{Fan, average};
use crate::peer::PeerError;
use crate::player::{Evaluator, Player, best_play};

/// Plays that are looked at more closely at most.
const KEPT: usize = 8;
/// Points by which a play may fall behind the best at first sight to be looked at more closely.
const MARGIN: f32 = 0.16;
/// Plays made so far, as far as rolls depend on it: a position that is searched is not the first of a game.
const UNDER_WAY: usize = 1;

/// An evaluator that looks some plies ahead of another.
///
/// At one ply a position is worth the exact mean, over all rolls, of the best play of each at first sight. At more, the
/// plays are still those best at first sight, and each is worth what looking one ply less ahead of it gives.
pub struct Lookahead<G: Game> {
    game: G,
    at_sight: Box<dyn Evaluator<G>>,
    plies: u32,
    fan: Fan<G>,
}

impl<G: Game> Lookahead<G> {
    /// Looks `plies` ahead of the judgement of `at_sight`; 0 is that judgement itself.
    pub fn new(game: G, at_sight: Box<dyn Evaluator<G>>, plies: u32) -> Self {
        Lookahead { game, at_sight, plies, fan: Fan::default() }
    }

    fn look(&mut self, position: &G::State, plies: u32) -> G::Chances {
        if let Some(points) = self.game.payoff(position) {
            return G::Chances::from_payoff(points);
        }
        let rolls = self.game.rolls(position, UNDER_WAY);
        self.fan.open(self.game, position, rolls, &mut *self.at_sight);
        if plies == 1 {
            return self.fan.expected();
        }
        let replies: Vec<G::State> = (0..self.fan.rolls())
            .map(|roll| self.fan.plays(roll).after[self.fan.best(roll)].clone())
            .collect();
        let shares: Vec<f64> = dice::shares(rolls).collect();
        average(&shares, replies.iter().map(|reply| self.look(reply, plies - 1).flipped()))
    }
}

impl<G: Game> Evaluator<G> for Lookahead<G> {
    fn judge(&mut self, positions: &[G::State], chances: &mut Vec<G::Chances>) {
        if self.plies == 0 {
            return self.at_sight.judge(positions, chances);
        }
        chances.clear();
        chances.extend(positions.iter().map(|position| self.look(position, self.plies)));
    }

    fn evaluated(&mut self) -> u64 {
        self.at_sight.evaluated()
    }

    fn trouble(&mut self) -> Option<PeerError> {
        self.at_sight.trouble()
    }
}

/// Makes the play with the best expected points, after looking ahead.
///
/// All plays are judged at sight; at a depth of one ply and more, those within 0.16 points of the best, and no more
/// than eight, are then judged by looking ahead. Equal plays: the first.
pub struct ValuePlayer<G: Game> {
    lookahead: Lookahead<G>,
    judged: Vec<G::Chances>,
}

impl<G: Game> ValuePlayer<G> {
    /// A player that chooses by `evaluator`, `plies` ahead.
    pub fn new(game: G, evaluator: Box<dyn Evaluator<G>>, plies: u32) -> Self {
        ValuePlayer { lookahead: Lookahead::new(game, evaluator, plies), judged: Vec::new() }
    }

    /// Index of the best play, given the judgement of all at sight.
    fn choose_among(&mut self, plays: &Plays<G>, at_sight: &[G::Chances]) -> usize {
        if self.lookahead.plies == 0 {
            return best_play(at_sight);
        }
        let kept = worth_a_look(at_sight);
        if let [only] = kept[..] {
            return only;
        }
        let seen: Vec<G::Chances> =
            kept.iter().map(|&play| self.lookahead.look(&plays.after[play], self.lookahead.plies)).collect();
        kept[best_play(&seen)]
    }
}

/// The plays to look at more closely, in ascending order.
fn worth_a_look<C: Chances>(at_sight: &[C]) -> Vec<usize> {
    let mut plays: Vec<usize> = (0..at_sight.len()).collect();
    plays.sort_by(|&a, &b| at_sight[a].points().total_cmp(&at_sight[b].points()));
    let limit = at_sight[plays[0]].points() + MARGIN;
    plays.truncate(KEPT);
    plays.retain(|&play| at_sight[play].points() <= limit);
    plays.sort_unstable();
    plays
}

impl<G: Game> Player<G> for ValuePlayer<G> {
    fn choose(&mut self, _: &G::State, _: G::Roll, plays: &Plays<G>, _: &mut ChaCha8Rng) -> usize {
        let mut judged = std::mem::take(&mut self.judged);
        self.lookahead.at_sight.judge(&plays.after, &mut judged);
        let choice = self.choose_among(plays, &judged);
        self.judged = judged;
        choice
    }

    fn choose_judged(
        &mut self,
        _: &G::State,
        _: G::Roll,
        plays: &Plays<G>,
        judged: &[G::Chances],
        _: &mut ChaCha8Rng,
    ) -> usize {
        self.choose_among(plays, judged)
    }

    fn evaluator(&mut self) -> Option<&mut dyn Evaluator<G>> {
        Some(&mut *self.lookahead.at_sight)
    }
}

#[cfg(test)]
mod tests {
    use ludus_games::Backgammon;
    use ludus_games::backgammon::BackgammonChances;
    use rand::SeedableRng;

    use super::*;
    use crate::toys::{Exact, Noise, Pips, Toy, ToyState};

    fn plays_of<G: Game>(game: G, state: &G::State, roll: G::Roll) -> Plays<G> {
        let mut plays = Plays::new();
        game.plays(state, roll, &mut plays);
        plays
    }

    /// The value of a position by the definition, without batches or memory.
    fn by_definition<G: Game<Chances = BackgammonChances>>(
        at_sight: &mut dyn Evaluator<G>,
        state: &G::State,
        plies: u32,
    ) -> f64 {
        let game = G::default();
        let mut judge = |state: &G::State| {
            let mut chances = Vec::new();
            at_sight.judge(std::slice::from_ref(state), &mut chances);
            f64::from(chances[0].points())
        };
        if plies == 0 || game.payoff(state).is_some() {
            return judge(state);
        }
        let mut chosen = Vec::new();
        for (roll, weight) in game.rolls(state, 1) {
            let plays = plays_of(game, state, *roll);
            let best = plays.after.iter().min_by(|a, b| judge(a).total_cmp(&judge(b))).expect("a play");
            chosen.push((best.clone(), f64::from(*weight)));
        }
        chosen.iter().map(|(after, weight)| -weight * by_definition(at_sight, after, plies - 1)).sum()
    }

    fn look<G: Game>(evaluator: impl Evaluator<G> + 'static, state: &G::State, plies: u32) -> f64
    where
        G::Chances: Chances,
    {
        let mut lookahead = Lookahead::new(G::default(), Box::new(evaluator), plies);
        let mut chances = Vec::new();
        lookahead.judge(std::slice::from_ref(state), &mut chances);
        f64::from(chances[0].points())
    }

    #[test]
    fn looking_ahead_is_the_mean_over_the_rolls_of_the_best_replies() {
        for plies in 0..4 {
            let expected = by_definition::<Toy>(&mut Noise(7), &ToyState::default(), plies);
            let found = look::<Toy>(Noise(7), &ToyState::default(), plies);
            assert!((found - expected).abs() < 1e-5, "{plies} plies: {found} instead of {expected}");
        }
        let start = Backgammon.start();
        let expected = by_definition(&mut Pips, &start, 1);
        assert!((look(Pips, &start, 1) - expected).abs() < 1e-5);
    }

    #[test]
    fn looking_ahead_of_the_truth_finds_the_truth() {
        let truth = look::<Toy>(Exact, &ToyState::default(), 0);
        for plies in 1..5 {
            assert!((look::<Toy>(Exact, &ToyState::default(), plies) - truth).abs() < 1e-5);
        }
    }

    /// Knows finished games, and thinks a little too well of the bonus in all others.
    struct Fond;

    impl Evaluator<Toy> for Fond {
        fn judge(&mut self, positions: &[ToyState], chances: &mut Vec<BackgammonChances>) {
            let sight = |state: &ToyState| {
                let win = if state.other.1 { 0.45 } else { 0.5 };
                Toy.payoff(state).map_or(BackgammonChances([win, 0.0, 0.0, 0.0, 0.0]), Chances::from_payoff)
            };
            chances.clear();
            chances.extend(positions.iter().map(sight));
        }
    }

    #[test]
    fn a_player_that_looks_ahead_finds_what_it_cannot_see_at_sight() {
        // Two steps, and the next roll wins for sure; or one step with the bonus, and half of the rolls win twice as much.
        let state = ToyState { own: (1, false), other: (0, false) };
        let plays = plays_of(Toy, &state, 2);
        let choice = |evaluator: Box<dyn Evaluator<Toy>>, plies| {
            let mut rng = ChaCha8Rng::seed_from_u64(0);
            ValuePlayer::new(Toy, evaluator, plies).choose(&state, 2, &plays, &mut rng)
        };
        assert_eq!(choice(Box::new(Exact), 0), 0);
        assert_eq!(choice(Box::new(Fond), 0), 1);
        assert_eq!(choice(Box::new(Fond), 2), 0);
    }

    #[test]
    fn of_equal_plays_the_first_is_made() {
        let chances = |win| BackgammonChances([win, 0.0, 0.0, 0.0, 0.0]);
        // These are the opponent's chances: the lower the better.
        assert_eq!(best_play(&[chances(0.5), chances(0.4), chances(0.4)]), 1);
        assert_eq!(worth_a_look(&[chances(0.5), chances(0.4), chances(0.45), chances(0.4)]), [1, 2, 3]);
        assert_eq!(worth_a_look(&[chances(0.4); 12]), [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_judgement_handed_over_gives_the_same_choice() {
        let start = Backgammon.start();
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        for (roll, _) in Backgammon.rolls(&start, 1) {
            let plays = plays_of(Backgammon, &start, *roll);
            let mut judged = Vec::new();
            Pips.judge(&plays.after, &mut judged);
            for plies in [0, 1] {
                let mut player = ValuePlayer::new(Backgammon, Box::new(Pips), plies);
                let own = player.choose(&start, *roll, &plays, &mut rng);
                assert_eq!(own, player.choose_judged(&start, *roll, &plays, &judged, &mut rng));
            }
        }
    }
}
