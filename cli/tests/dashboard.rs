//! A live run, looked at as people do: in a real browser, with numpy, with promtool, in the terminal.
//!
//! `LUDUS_SCREENSHOTS=DIR` keeps pictures of every page, light, dark and on a phone.

#[path = "support/browser.rs"]
mod browser;
#[path = "../../stream/tests/support/redis_server.rs"]
#[allow(dead_code, reason = "the processes here share a folder instead")]
mod redis_server;
mod support;

use std::io::Write;
use std::process::{Command, Stdio};

use browser::Browser;
use serde_json::Value;
use sha2::{Digest, Sha256};
use support::{Place, Process, TINY, arg, until};

/// A coordinator with a trainer and a worker, each with its numbers at a port.
struct Live {
    place: Place,
    url: String,
    ports: [String; 2],
    _processes: Vec<Process>,
}

impl Live {
    fn start() -> Self {
        Live::of(TINY)
    }

    /// Learning a game by this configuration, which names it.
    fn of(config: &str) -> Self {
        let place = Place::new();
        let config = place.file("run.toml", config);
        let data = place.path("data");
        let mut coordinator =
            place.start("coordinator", &["coordinator", "--dir", arg(&data), "--listen", "127.0.0.1:0"]);
        let line = coordinator.first_line();
        let url = line.split_whitespace().find(|word| word.starts_with("http://")).expect("its address");
        let url = url.trim_end_matches(',').to_owned();
        place.ok(&["run", "create", "--config", &config, "--name", "live", "--coordinator", &url]);
        let ports = [free_port(), free_port()];
        let checkpoints = place.path("trainer");
        let trainer = [
            "trainer",
            "--coordinator",
            &url,
            "--stream-dir",
            arg(&data),
            "--dir",
            arg(&checkpoints),
            "--metrics",
            &ports[0],
        ];
        let trainer = place.start("trainer", &trainer);
        let worker = [
            "worker",
            "--coordinator",
            &url,
            "--threads",
            "1",
            "--name",
            "<b>w&1</b>",
            "--metrics",
            &ports[1],
        ];
        let worker = place.start("worker", &worker);
        Live { url, ports, _processes: vec![coordinator, trainer, worker], place }
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&get(&format!("{}/api/v1/{path}", self.url))).expect("JSON")
    }
}

/// A run of Othello that has games to look at soon.
const OTHELLO: &str = "\
game = \"othello\"
[learn]
publish_games = 500
checkpoint_seconds = 1
";

#[test]
fn boards_of_the_other_games_are_drawn_and_stepped_through() {
    let live = Live::of(OTHELLO);
    until("a game can be looked at", || {
        let games = live.json("runs/live/games");
        games.as_array().is_some_and(|games| !games.is_empty()).then_some(())
    });
    let Some(mut browser) = Browser::start() else { return };
    othello_game(&mut browser, &live);
    draughts_board(&mut browser, &live);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

fn othello_game(browser: &mut Browser, live: &Live) {
    let games = live.json("runs/live/games");
    let path = format!("{}/{}", games[0]["series"], games[0]["number"]);
    let game = live.json(&format!("runs/live/games/{path}"));
    let plies = game["plies"].as_array().expect("plies");
    browser.open(&format!("{}/runs/live/games/{path}", live.url));
    // Black and white discs on the board, and the sign of the play.
    let drawn =
        "['black', 'white'].map((side) => document.querySelectorAll(`#board .othello .disc.${side}`).length)";
    let played = "document.querySelectorAll('#board .chosen').length";
    assert_eq!(browser.eval(drawn), serde_json::json!([2, 2]));
    keep(browser, "othello");
    // There are no dice, so nobody speaks of rolls and luck.
    let said = browser.eval("document.getElementById('main').innerText.toLowerCase()");
    assert!(["roll", "luck"].iter().all(|word| !said.as_str().expect("text").contains(word)), "{said}");
    let mut before = 4;
    for (step, ply) in plies.iter().enumerate() {
        // The position is seen by the side that acts.
        let position = ply["position"].as_str().expect("a position");
        let signs = position.split(' ').next().expect("signs");
        let count = |sign| signs.matches(sign).count();
        let (own, other) = (count('X'), count('O'));
        // Black is who begins.
        let black = ply["seat"] == plies[0]["seat"];
        let expected = if black { [own, other] } else { [other, own] };
        assert_eq!(browser.eval(drawn), serde_json::json!(expected), "ply {step} of {position}");
        let passes = ply["play"].as_str().is_some_and(|play| play.len() != 2);
        assert_eq!(browser.eval(played), u64::from(!passes), "ply {step}");
        assert!(own + other == before, "a play sets one disc, a pass none");
        before += usize::from(!passes);
        browser.press("ArrowRight");
    }
    let text = browser.eval("document.querySelector('#ply h2').textContent");
    let text = text.as_str().expect("a heading");
    assert!(text.contains("wins") || text == "A draw", "{text}");
    let last = browser.eval("document.querySelectorAll('#board .disc').length");
    assert_eq!(last, before);
    keep(browser, "othello-end");
}

/// No network learns draughts yet, so no run has games of it: the board is drawn from a position.
fn draughts_board(browser: &mut Browser, live: &Live) {
    browser.open(&format!("{}/", live.url));
    let draw = |position: &str, play: &str| {
        format!(
            "import('/assets/board.js').then(({{ board }}) => {{ const drawn = board('italian-draughts', \
             {{ seat: 0, position: '{position}', play: '{play}' }}); document.getElementById('main').replaceChildren(drawn); \
             return ['.darkside', '.disc.white', '.disc.black', '.king', '.arrow'].map((what) => drawn.querySelectorAll(what).length); }})"
        )
    };
    let start = "W:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12";
    assert_eq!(browser.eval(&draw(start, "22-18")), serde_json::json!([32, 12, 12, 0, 1]));
    keep(browser, "draughts");
    assert_eq!(browser.eval(&draw("B:WK5,18:BK14,K30", "14x21")), serde_json::json!([32, 2, 2, 3, 1]));
    // Every piece is on a dark square.
    let on_dark = "[...document.querySelectorAll('.disc')].every((disc) => [...document.querySelectorAll('.darkside')].some((square) => \
        ['x', 'y'].every((axis) => { const off = disc.getAttribute(`c${axis}`) - square.getAttribute(axis); return off > 0 && off < square.getAttribute('width'); })))";
    assert_eq!(browser.eval(on_dark), true);
}

/// An address that nobody listens on just now.
fn free_port() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").to_string()
}

/// The body at an address.
fn get(url: &str) -> String {
    let answer = ureq::get(url).call().unwrap_or_else(|error| panic!("{url}: {error}"));
    answer.into_body().read_to_string().expect("text")
}

/// Keeps a picture when that is wanted.
fn keep(browser: &mut Browser, name: &str) {
    let Some(folder) = std::env::var_os("LUDUS_SCREENSHOTS") else { return };
    use base64::Engine;
    // Curves and boards move into place.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let bytes = base64::engine::general_purpose::STANDARD.decode(browser.picture()).expect("base64");
    std::fs::write(std::path::Path::new(&folder).join(format!("{name}.png")), bytes).expect("kept");
}

#[test]
fn a_live_run_is_seen_in_a_browser_with_numpy_by_prometheus_and_in_the_terminal() {
    let live = Live::start();
    until("there is a champion, some games and points", || {
        let run = live.json("runs/live");
        let games = live.json("runs/live/games");
        let points = live.json("runs/live/curve");
        let enough = |list: &Value, count| list.as_array().is_some_and(|list| list.len() >= count);
        (run["champion"].is_u64() && enough(&games, 1) && enough(&points, 5)).then_some(())
    });
    metrics(&live);
    numpy(&live);
    terminal(&live);
    if let Some(mut browser) = Browser::start() {
        run_page(&mut browser, &live);
        version_page(&mut browser, &live);
        game_page(&mut browser, &live);
        position_page(&mut browser, &live);
        other_pages(&mut browser, &live);
        phone_and_dark(&mut browser, &live);
        assert_eq!(browser.complaints, Vec::<String>::new());
    }
}

fn run_page(browser: &mut Browser, live: &Live) {
    browser.open(&format!("{}/runs/live", live.url));
    browser.wait("the run is live", "document.getElementById('main').dataset.live === 'true'");
    browser.wait(
        "the loss is drawn",
        "(document.getElementById('loss').plotted ?? []).some((s) => s.points.length >= 5)",
    );
    // The curve has the points that the API has, as far as both had them at the time.
    let drawn = browser.eval("document.getElementById('backlog').plotted[0].points.map((p) => [p.x, p.y])");
    let points = live.json("runs/live/curve");
    let points: Vec<Value> = points
        .as_array()
        .expect("points")
        .iter()
        .map(|point| serde_json::json!([point["games"], point["backlog"]]))
        .collect();
    let drawn = drawn.as_array().expect("points");
    assert!(drawn.len() >= 5 && points.starts_with(drawn), "{drawn:?} and {points:?}");
    let losses = browser.eval("document.getElementById('loss').plotted.map((s) => s.name).sort()");
    assert_eq!(losses, serde_json::json!(["contact", "crashed", "race"]));
    // A click leads to the version that was the newest when the point was reported.
    browser.wait(
        "every point has its version",
        "document.getElementById('loss').plotted[0].points.every((p) => p.title && p.href === `/runs/live/versions/${p.title.slice(1)}`)",
    );
    let leads = "(() => { const figure = document.getElementById('loss'); \
        const canvas = figure.querySelector('svg'); const box = canvas.getBoundingClientRect(); \
        const click = { clientX: box.left + 0.6 * box.width, clientY: box.top + 50, bubbles: true }; \
        canvas.dispatchEvent(new PointerEvent('pointermove', click)); \
        return [figure.querySelector('.hint a')?.getAttribute('href') ?? '', canvas.classList.contains('leads')]; })()";
    let leads = browser.eval(leads);
    let version = leads[0].as_str().and_then(|path| path.strip_prefix("/runs/live/versions/"));
    assert!(leads[1] == true && version.is_some_and(|version| version.parse::<u64>().is_ok()), "{leads}");
    // So does a chart of one line, which has no name.
    let alone = "(() => { const canvas = document.querySelector('#backlog svg'); const box = canvas.getBoundingClientRect(); \
        canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + 0.6 * box.width, clientY: box.top + 50 })); \
        return document.querySelector('#backlog .hint td:last-child')?.textContent ?? ''; })()";
    assert_ne!(browser.eval(alone), "");
    // It goes on by itself.
    let before = drawn.len();
    browser.wait(
        "more points come",
        &format!("document.getElementById('backlog').plotted[0].points.length > {before}"),
    );
    browser
        .wait("the worker is there", "document.getElementById('workers').innerText.includes('<b>w&1</b>')");
    browser.wait("a gate is drawn", "(document.getElementById('evidence').plotted ?? []).length === 2");
    browser.wait("games are listed", "document.querySelectorAll('#games tbody tr').length > 0");
    let accounts = browser.eval("document.getElementById('leases').innerText");
    assert!(
        accounts.as_str().is_some_and(|text| text.contains("self-play") && !text.contains("unaccounted")),
        "{accounts}"
    );

    // What is downloaded is what the table promises.
    let download = "(async () => { const a = document.querySelector('#versions a[data-sha256]');
        const data = await (await fetch(a.href)).arrayBuffer();
        const sum = await crypto.subtle.digest('SHA-256', data);
        return [a.dataset.sha256, [...new Uint8Array(sum)].map((b) => b.toString(16).padStart(2, '0')).join('')]; })()";
    let sums = browser.eval(download);
    assert_eq!(sums[0], sums[1]);
    browser.eval("document.querySelectorAll('#versions input[type=checkbox]').forEach((box, i) => { if (i < 2) box.click(); })");
    // The table is drawn anew at the first choice, so the second one is made in it.
    browser.eval("[...document.querySelectorAll('#versions input[type=checkbox]')].filter((box) => !box.checked)[0]?.click()");
    browser.wait("two versions are compared", "document.getElementById('comparison') !== null");
    keep(browser, "run");
}

/// Where a table is wider than its sheet, so that something of it is out of sight.
const CLIPPED: &str = "[...document.querySelectorAll('.table')].filter((table) => table.scrollWidth > table.clientWidth + 1) \
    .map((table) => table.closest('.sheet')?.querySelector('h2')?.textContent)";

fn version_page(browser: &mut Browser, live: &Live) {
    let champion = live.json("runs/live/versions/champion");
    browser.open(&format!("{}/runs/live/versions/{}", live.url, champion["version"]));
    let text = browser.eval("document.getElementById('main').innerText");
    let text = text.as_str().expect("text");
    let sum = champion["sha256"].as_str().expect("a sum");
    assert!(text.contains(sum) && text.contains("promoted"), "{text}");
    let weights = ureq::get(format!("{}{}", live.url, champion["weights"].as_str().expect("a path"))).call();
    let bytes = weights.expect("weights").into_body().read_to_vec().expect("bytes");
    let got: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(got, sum);
    keep(browser, "version");
    for width in [1300, 1024] {
        browser.size(width, 900);
        assert_eq!(browser.eval(CLIPPED), serde_json::json!([]), "at {width}");
    }
    browser.size(1280, 900);
}

fn game_page(browser: &mut Browser, live: &Live) {
    let games = live.json("runs/live/games");
    let path = format!("{}/{}", games[0]["series"], games[0]["number"]);
    let game = live.json(&format!("runs/live/games/{path}"));
    let plies = game["plies"].as_array().expect("plies");
    browser.open(&format!("{}/runs/live/games/{path}", live.url));
    assert_eq!(browser.eval("document.querySelectorAll('#board .checker').length"), 30);
    for (step, ply) in plies.iter().enumerate() {
        let heading = browser.eval("document.querySelector('#ply h2').textContent");
        let roll = ply["roll"].as_str().expect("a roll");
        assert!(
            heading
                .as_str()
                .is_some_and(|text| text.starts_with(&format!("{}.", step + 1)) && text.ends_with(roll)),
            "{heading}"
        );
        let made = browser.eval("document.querySelector('#ply .made td:nth-child(2)').textContent");
        assert_eq!(made, ply["play"], "ply {step}");
        if step == 2 {
            let copied =
                browser.eval("[...document.querySelectorAll('#ply button')].map((b) => b.dataset.text)");
            assert_eq!(copied[0], ply["position"]);
            assert!(copied[1].as_str().is_some_and(|text| text.starts_with("XGID=")), "{copied}");
            keep(browser, "game");
        }
        browser.press("ArrowRight");
    }
    let end = browser.eval("document.querySelector('#ply h2').textContent");
    assert!(end.as_str().is_some_and(|text| text.contains("wins")), "{end}");
    assert_eq!(browser.eval("Number(location.hash.slice(1))"), plies.len());
    browser.press("ArrowLeft");
    assert_eq!(browser.eval("Number(location.hash.slice(1))"), plies.len() - 1);
    // A game of a gate is played again from its number.
    let gate = live.json("runs/live/versions/champion")["version"].clone();
    let games = live.json(&format!("runs/live/games?gate={}", gate));
    let first = &games[0];
    let game = live.json(&format!("runs/live/games/{}/{}", first["series"], first["number"]));
    assert_eq!((&game["payoff"], &game["players"]), (&first["payoff"], &first["players"]));
}

fn position_page(browser: &mut Browser, live: &Live) {
    browser.open(&format!("{}/runs/live/position", live.url));
    assert_eq!(browser.eval("document.querySelectorAll('tbody tr').length"), 21);
    browser.eval(
        "document.querySelector('input[name=roll]').value = '31'; document.querySelector('form').requestSubmit()",
    );
    browser.wait("the plays of 31", "document.querySelectorAll('.plays tbody tr').length === 5");
    let found = live.json("runs/live/position?position=4HPwATDgc/ABMA&roll=31");
    let first = browser.eval("document.querySelector('.plays tbody td:nth-child(2)').textContent");
    // A new champion may have come in between; it plays one of the legal plays all the same.
    assert!(
        first == found["rolls"][0]["plays"][0]["move"]
            || first.as_str().is_some_and(|play| play.contains('/'))
    );
    keep(browser, "position");
    browser.eval("document.querySelector('input[name=position]').value = 'nonsense'; document.querySelector('form').requestSubmit()");
    browser.wait(
        "what is wrong with it",
        "document.querySelector('.notice.error')?.textContent.includes('nonsense')",
    );
    // The browser itself remarks on the answer; nothing else may be.
    assert!(browser.complaints.iter().all(|complaint| complaint.contains("400")), "{:?}", browser.complaints);
    browser.complaints.clear();
}

fn other_pages(browser: &mut Browser, live: &Live) {
    browser.open(&format!("{}/", live.url));
    assert!(
        browser
            .eval("document.querySelector('tbody').innerText")
            .as_str()
            .is_some_and(|text| text.contains("live"))
    );
    keep(browser, "runs");
    browser.eval(
        "document.querySelector('input[name=name]').value = 'second'; document.querySelector('select[name=preset]').value = 'quick';
         document.querySelector('form').requestSubmit()",
    );
    browser.wait(
        "the new run is shown",
        "location.pathname === '/runs/second' && document.getElementById('main').dataset.live === 'true'",
    );
    let quick = live.json("runs/second")["config"].as_str().expect("a configuration").to_owned();
    assert!(quick.contains("hidden = 40"));
    browser.eval("document.querySelector('.head .act button[type=button]').click(); document.querySelector('.head form').requestSubmit()");
    browser.wait("it is stopped", "document.querySelector('.head .state').textContent === 'stopped'");
    assert_eq!(live.json("runs/second")["state"], "stopped");
    // It would have been quick: were its first games thousands of plies long, there would be no curve for a long time.
    let (config, dir) = (live.place.file("quick.toml", &quick), live.place.path("quick"));
    let train =
        ["train", "backgammon", "--config", &config, "--dir", arg(&dir), "--cpu-time", "5s", "--json"];
    let reached = live.place.json(&train);
    let count = |name: &str| reached[name].as_u64().expect("a count");
    assert!(count("games") > 0 && count("positions") < 200 * count("games"), "{reached}");
    // As people shorten it.
    browser.show(&format!("{}/runs", live.url));
    browser.wait("the list", "location.pathname === '/' && document.body.dataset.ready === 'true'");
    browser.open(&format!("{}/api", live.url));
    assert!(
        browser.eval("document.querySelectorAll('section').length").as_u64().is_some_and(|count| count > 15)
    );
    keep(browser, "api");
}

fn phone_and_dark(browser: &mut Browser, live: &Live) {
    for (name, path) in
        [("run", "/runs/live"), ("game", ""), ("position", "/runs/live/position"), ("runs", "/")]
    {
        let games = live.json("runs/live/games");
        let path = match name {
            "game" => format!("/runs/live/games/{}/{}", games[0]["series"], games[0]["number"]),
            _ => path.to_owned(),
        };
        browser.dark(true);
        browser.size(1280, 900);
        browser.open(&format!("{}{path}", live.url));
        keep(browser, &format!("{name}-dark"));
        browser.size(390, 844);
        browser.dark(false);
        browser.open(&format!("{}{path}", live.url));
        browser.wait("it fits on a phone", "document.documentElement.scrollWidth <= 390");
        keep(browser, &format!("{name}-phone"));
    }
}

#[test]
fn with_tokens_a_reader_looks_and_only_an_admins_token_starts_and_stops_a_run() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::new();
    let data = place.path("data");
    let token = |name, role| {
        place.ok(&["token", "create", name, "--role", role, "--dir", arg(&data)]).trim().to_owned()
    };
    let [admin, reader] = [token("owner", "admin"), token("people", "read")];
    let mut coordinator =
        place.start("coordinator", &["coordinator", "--dir", arg(&data), "--listen", "127.0.0.1:0"]);
    let line = coordinator.first_line();
    let url = line.split_whitespace().find(|word| word.starts_with("http://")).expect("its address");
    let url = url.trim_end_matches(',');
    // What the browser asks for, name and password, is given with an address once.
    browser.show(&format!("{}/api/v1/runs", url.replace("http://", &format!("http://any:{reader}@"))));
    browser.open(url);
    let start = |token: &str| {
        format!(
            "document.querySelector('input[name=name]').value = 'guarded'; \
             document.querySelector('input[name=limit_pairs]').value = '77'; \
             document.querySelector('input[name=token]').value = '{token}'; document.querySelector('form').requestSubmit()"
        )
    };
    browser.eval(&start(&reader));
    browser.wait("a reader is told", "document.querySelector('.error').textContent.includes('role read')");
    browser.eval(&start(&admin));
    browser.wait("the run is shown", "document.getElementById('main')?.dataset.live === 'true'");
    let shown = "document.querySelector('pre').textContent.includes('limit_pairs = 77')";
    assert_eq!(browser.eval(shown), true);
    let stop = |token: &str| {
        format!(
            "document.querySelector('.head input[name=token]').value = '{token}'; \
             document.querySelector('.head form').requestSubmit()"
        )
    };
    browser.eval("document.querySelector('.head .act button[type=button]').click()");
    browser.eval(&stop(&reader));
    let told = "document.querySelector('.head .error').textContent.includes('role read')";
    browser.wait("a reader is told here, too", told);
    assert_eq!(browser.eval("document.querySelector('.head .state').textContent"), "active");
    browser.eval(&stop(&admin));
    browser.wait("it is stopped", "document.querySelector('.head .state').textContent === 'stopped'");
    // Of the refusals the browser itself takes note, and of nothing else.
    assert!(browser.complaints.iter().all(|complaint| complaint.contains("403")), "{:?}", browser.complaints);
}

/// Every role's numbers, as promtool likes them.
fn metrics(live: &Live) {
    let [trainer, worker] = &live.ports;
    for (text, name) in [
        (
            get(&format!("{}/metrics", live.url)),
            "ludus_games_accepted_total{run=\"live\",kind=\"self-play\"}",
        ),
        (get(&format!("http://{trainer}/metrics")), "ludus_trainer_games_total"),
        (get(&format!("http://{worker}/metrics")), "ludus_worker_games_total"),
        (get(&format!("http://{worker}/metrics")), "ludus_worker_evaluations_total"),
        (get(&format!("http://{trainer}/metrics")), "ludus_trainer_replay_ratio"),
    ] {
        let line =
            text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in {text}"));
        let value: f64 = line.rsplit(' ').next().and_then(|value| value.parse().ok()).expect("a number");
        assert!(value > 0.0, "{line}");
        let checking = Command::new("promtool")
            .args(["check", "metrics"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut checking) = checking else {
            eprintln!("skipped: there is no promtool (Debian: apt-get install prometheus)");
            continue;
        };
        checking.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("read");
        let said = checking.wait_with_output().expect("an end");
        let words = [said.stdout, said.stderr].concat();
        assert!(said.status.success() && words.is_empty(), "{}", String::from_utf8_lossy(&words));
    }
    assert_eq!(get(&format!("http://{worker}/healthz")), "ok\n");
}

/// The example of docs/: the champion computed by numpy is what the kernel says.
fn numpy(live: &Live) {
    let python = std::env::var("LUDUS_PYTHON").unwrap_or_else(|_| "python3".into());
    let has_numpy = Command::new(&python).args(["-c", "import numpy"]).stderr(Stdio::null()).status();
    if !has_numpy.is_ok_and(|status| status.success()) {
        eprintln!("skipped: {python} has no numpy (LUDUS_PYTHON names another)");
        return;
    }
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/champion.py");
    let said = Command::new(&python).args([example, &live.url, "live"]).output().expect("python starts");
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    assert!(text.contains("'win': 0.") && text.contains("best: "), "{text}");
}

/// Without a terminal the picture is printed once.
fn terminal(live: &Live) {
    let text = live.place.ok(&["watch", "live", "--coordinator", &live.url]);
    for expected in ["live", "active", "champion", "loss, contact", "v1"] {
        assert!(text.contains(expected), "{expected} is missing from\n{text}");
    }
}
