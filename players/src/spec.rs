//! Player specs: how people name players.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use strsim::osa_distance;

use crate::arena::{Arena, ArenaError};

/// Deepest search that can be asked for; one more ply costs about 400 times the evaluations.
pub const MAX_SEARCH: u32 = 3;

/// A player as people write it: `random`, `shipped`, `v12`, `v12@1ply`, `champion`, `latest`, a weight file's path, or a program
/// outside, `gnubg:localhost:4000@0ply`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerSpec {
    /// Who.
    pub who: Named,
    /// Search depth in plies, 0 when nothing is said.
    pub plies: u32,
}

/// The part of a spec that names a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// A baseline of the game, with its settings if it has any: `saltare@depth=7`.
    Baseline(String),
    /// A version of the run, `v12`.
    Version(u64),
    /// The newest promoted version.
    Champion,
    /// The newest published version.
    Latest,
    /// The player that comes with the program.
    Shipped,
    /// A weight file: anything with a `/` or a `.` in it.
    File(PathBuf),
    /// A program outside, `gnubg:localhost:4000`.
    External {
        /// Its name, one of the game's.
        program: String,
        /// Where it runs.
        host: String,
        /// Where it listens there.
        port: u16,
    },
}

impl PlayerSpec {
    /// Reads a spec, with the baselines of `arena`'s game.
    pub fn parse(text: &str, arena: &dyn Arena) -> Result<Self, ArenaError> {
        if let Some(settings) = Settings::of(text)
            && arena.baselines().contains(&settings.player)
        {
            return Ok(PlayerSpec { who: Named::Baseline(text.into()), plies: 0 });
        }
        let (name, plies) = match text.rsplit_once('@') {
            Some((name, search)) if !search.contains('/') => (name, search_depth(text, search)?),
            _ => (text, 0),
        };
        let version =
            name.strip_prefix('v').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let outside = name.split_once(':').filter(|(program, _)| arena.externals().contains(program));
        let who = if let Some((program, address)) = outside {
            let (host, port) = read_address(text, address)?;
            Named::External { program: program.into(), host, port }
        } else if name == "champion" {
            Named::Champion
        } else if name == "latest" {
            Named::Latest
        } else if name == "shipped" {
            Named::Shipped
        } else if arena.baselines().contains(&name) {
            Named::Baseline(name.into())
        } else if let Some(number) = version.and_then(|digits| digits.parse().ok()) {
            Named::Version(number)
        } else if name.contains(['/', '.', std::path::MAIN_SEPARATOR]) {
            Named::File(name.into())
        } else {
            return Err(unknown_player(arena, name));
        };
        Ok(PlayerSpec { who, plies })
    }
}

/// The name of a baseline with a setting: `saltare@depth=7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings<'a> {
    player: &'a str,
    text: &'a str,
}

impl<'a> Settings<'a> {
    /// What a name says after its `@`; `None` for a name without a setting.
    pub fn of(name: &'a str) -> Option<Self> {
        let (player, text) = name.split_once('@').filter(|(_, text)| text.contains('='))?;
        Some(Settings { player, text })
    }

    /// The baseline.
    pub fn player(&self) -> &'a str {
        self.player
    }

    /// The one setting, which must be one of `known` and in its range.
    pub fn only(
        &self,
        known: &[(&'static str, RangeInclusive<u64>)],
    ) -> Result<(&'static str, u64), ArenaError> {
        let setting = self.text.split_once('=').and_then(|(key, value)| {
            let (name, range) = known.iter().find(|(name, _)| *name == key)?;
            Some((*name, value.parse().ok().filter(|value| range.contains(value))?))
        });
        setting.ok_or_else(|| {
            let known = known.iter().map(|(name, range)| {
                format!("{}@{name}=N with N from {} to {}", self.player, range.start(), range.end())
            });
            ArenaError::Settings(format!(
                "player {self}: {:?} is not a setting of {}; write {}",
                self.text,
                self.player,
                known.collect::<Vec<_>>().join(", or ")
            ))
        })
    }

    /// The error about a baseline that takes no settings.
    pub fn none_taken(&self) -> ArenaError {
        ArenaError::Settings(format!("{} takes no settings; ask for it without @{}", self.player, self.text))
    }
}

impl fmt::Display for Settings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.player, self.text)
    }
}

/// Host and port of a program outside; the host may stand in brackets, as in `[::1]:4000`.
fn read_address(spec: &str, address: &str) -> Result<(String, u16), ArenaError> {
    let split = address.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
    let host = |host: &str| host.trim_start_matches('[').trim_end_matches(']').to_owned();
    split.filter(|(host, port)| !host.is_empty() && *port > 0).map(|(name, port)| (host(name), port)).ok_or_else(|| {
        ArenaError::Settings(format!(
            "player {spec:?}: {address:?} is not an address; write a host and a port, as in gnubg:localhost:4000@0ply"
        ))
    })
}

fn search_depth(spec: &str, search: &str) -> Result<u32, ArenaError> {
    let plies = search.strip_suffix("ply").and_then(|number| number.parse().ok());
    plies.filter(|&plies| plies <= MAX_SEARCH).ok_or_else(|| {
        ArenaError::Settings(format!(
            "player {spec:?}: {search:?} is not a search depth; write @0ply, @1ply, ... up to @{MAX_SEARCH}ply"
        ))
    })
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.who {
            Named::Baseline(name) => f.write_str(name)?,
            Named::Version(number) => write!(f, "v{number}")?,
            Named::Champion => f.write_str("champion")?,
            Named::Latest => f.write_str("latest")?,
            Named::Shipped => f.write_str("shipped")?,
            Named::File(path) => write!(f, "{}", path.display())?,
            Named::External { program, host, port } if host.contains(':') => {
                write!(f, "{program}:[{host}]:{port}")?;
            }
            Named::External { program, host, port } => write!(f, "{program}:{host}:{port}")?,
        }
        if self.plies > 0 {
            write!(f, "@{}ply", self.plies)?;
        }
        Ok(())
    }
}

/// The error about a name that is nobody's, with the names there are and the nearest of them.
pub fn unknown_player(arena: &dyn Arena, name: &str) -> ArenaError {
    let baselines = arena.baselines();
    let nearest = baselines
        .iter()
        .chain(&["shipped", "champion", "latest"])
        .min_by_key(|known| osa_distance(name, known));
    let nearest = nearest.filter(|known| osa_distance(name, known) <= known.len() / 2);
    ArenaError::UnknownPlayer {
        game: arena.game(),
        name: name.into(),
        nearest: nearest.map(|known| format!(" (did you mean {known:?}?)")).unwrap_or_default(),
        known: baselines.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Registry;

    fn parse(text: &str) -> Result<PlayerSpec, String> {
        let registry = Registry::standard();
        let arena = registry.find("backgammon").expect("backgammon comes with Ludus");
        PlayerSpec::parse(text, &**arena).map_err(|error| error.to_string())
    }

    fn gnubg(host: &str) -> Named {
        Named::External { program: "gnubg".into(), host: host.into(), port: 4000 }
    }

    #[test]
    fn an_address_must_be_one() {
        for text in ["gnubg:", "gnubg:localhost", "gnubg:localhost:", "gnubg:localhost:0", "gnubg::4000@0ply"]
        {
            let error = parse(text).unwrap_err();
            assert!(error.contains("is not an address"), "{error}");
        }
    }

    #[test]
    fn every_kind_of_spec_is_read_and_written_back() {
        for (text, who, plies) in [
            ("random", Named::Baseline("random".into()), 0),
            ("pubeval", Named::Baseline("pubeval".into()), 0),
            ("shipped", Named::Shipped, 0),
            ("shipped@1ply", Named::Shipped, 1),
            ("v12", Named::Version(12), 0),
            ("v12@1ply", Named::Version(12), 1),
            ("champion", Named::Champion, 0),
            ("latest@2ply", Named::Latest, 2),
            ("./v12", Named::File("./v12".into()), 0),
            ("strong.safetensors", Named::File("strong.safetensors".into()), 0),
            ("gnubg:localhost:4000@2ply", gnubg("localhost"), 2),
            ("gnubg:127.0.0.1:4000", gnubg("127.0.0.1"), 0),
            ("gnubg:[::1]:4000", gnubg("::1"), 0),
            ("runs@home/strong.safetensors", Named::File("runs@home/strong.safetensors".into()), 0),
            ("runs@home/strong.safetensors@1ply", Named::File("runs@home/strong.safetensors".into()), 1),
        ] {
            let spec = parse(text).expect(text);
            assert_eq!(spec, PlayerSpec { who, plies });
            assert_eq!(spec.to_string(), text);
        }
        assert_eq!(parse("v3@0ply"), Ok(PlayerSpec { who: Named::Version(3), plies: 0 }));
    }

    #[test]
    fn a_baseline_with_a_setting_is_one_and_a_wrong_setting_is_told_the_right_ones() {
        let registry = Registry::standard();
        let arena = registry.find("italian-draughts").expect("it comes with Ludus");
        let spec = PlayerSpec::parse("saltare@depth=7", &**arena).expect("a player");
        assert_eq!(spec, PlayerSpec { who: Named::Baseline("saltare@depth=7".into()), plies: 0 });
        assert_eq!(spec.to_string(), "saltare@depth=7");
        let known = [("depth", 1..=60), ("nodes", 1..=1_000)];
        assert_eq!(
            Settings::of("saltare@nodes=1000").expect("a setting").only(&known).ok(),
            Some(("nodes", 1_000))
        );
        for text in
            ["saltare@depth=0", "saltare@depth=61", "saltare@width=3", "saltare@depth=", "saltare@depth=-1"]
        {
            let error = Settings::of(text).expect("a setting").only(&known).unwrap_err().to_string();
            assert!(error.contains("saltare@depth=N with N from 1 to 60, or saltare@nodes=N"), "{error}");
        }
        assert_eq!(Settings::of("v12@1ply"), None);
    }

    #[test]
    fn an_unknown_player_is_told_the_known_ones_and_the_nearest() {
        let error = parse("pubevil").unwrap_err();
        assert!(error.contains("did you mean \"pubeval\"?"), "{error}");
        assert!(
            error.contains("random, pubeval, pubeval-listnet, shipped, a version such as v12"),
            "{error}"
        );
        let error = parse("zzz").unwrap_err();
        assert!(error.contains("\"zzz\"; its players"), "{error}");
        assert!(parse("v").is_err());
        assert!(parse("").is_err());
    }

    #[test]
    fn a_search_depth_must_be_one() {
        for text in ["v12@", "v12@deep", "v12@9ply", "v12@-1ply", "random@1plies"] {
            let error = parse(text).unwrap_err();
            assert!(error.contains("is not a search depth"), "{error}");
        }
    }
}
