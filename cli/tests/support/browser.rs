//! A real Chromium without a window, spoken to through two pipes.
//!
//! `--remote-debugging-pipe` reads commands from descriptor 3 and writes answers to descriptor 4, each a line of JSON with
//! a zero behind it. A shell puts the ends of ordinary pipes there, so nothing is needed but the browser itself.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Far longer than a page takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// A browser with one page. Ended when dropped.
pub struct Browser {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    session: String,
    next: u64,
    /// What the page said on its console that it should not have: errors and warnings.
    pub complaints: Vec<String>,
    _profile: TempDir,
}

impl Browser {
    /// Starts the browser that this machine has; `None`, and a line that says so, when it has none.
    pub fn start() -> Option<Browser> {
        let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|program| {
            let asked =
                Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            asked.is_ok_and(|status| status.success())
        });
        let Some(program) = found else {
            eprintln!("skipped: there is no chromium (Debian: apt-get install chromium)");
            return None;
        };
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh", program])
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--disable-extensions",
            ])
            .args(["--disable-background-networking", "--disable-component-update", "--no-first-run"])
            .args(["--hide-scrollbars", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the browser starts");
        let commands = child.stdin.take().expect("a pipe");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut browser = Browser {
            child,
            commands,
            answers,
            session: String::new(),
            next: 0,
            complaints: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.size(1280, 900);
        Some(browser)
    }

    /// Gives the page this size; below 600 it is that of a phone.
    pub fn size(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Whether the person likes it dark.
    pub fn dark(&mut self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        self.call(
            "Emulation.setEmulatedMedia",
            json!({"features": [{"name": "prefers-color-scheme", "value": value}]}),
        );
    }

    /// Goes to an address and waits until the page is ready.
    pub fn open(&mut self, url: &str) {
        // Otherwise a page of before would be found ready.
        self.call("Page.navigate", json!({"url": "about:blank"}));
        self.call("Page.navigate", json!({"url": url}));
        self.wait(
            url,
            &format!("location.href.startsWith({url:?}) && document.body?.dataset.ready === 'true'"),
        );
    }

    /// Goes to an address that is no page of the dashboard, and waits until it is there.
    pub fn show(&mut self, url: &str) {
        self.call("Page.navigate", json!({"url": "about:blank"}));
        self.call("Page.navigate", json!({"url": url}));
        self.wait("it is there", "location.href !== 'about:blank' && document.readyState === 'complete'");
    }

    /// The value of an expression.
    pub fn eval(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub fn wait(&mut self, what: &str, expression: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let asked = json!({"expression": expression, "returnByValue": true});
            // While a page is left behind there is nothing to ask.
            if self.call("Runtime.evaluate", asked)["result"]["value"] == true {
                return;
            }
            if Instant::now() > deadline {
                let page = self.eval("document.body?.innerText");
                panic!("never happened: {what}; complaints {:?}; the page says {page}", self.complaints);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Presses a key, such as `ArrowRight`.
    pub fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({"type": kind, "key": key, "code": key}));
        }
    }

    /// A picture of the whole page as PNG, in base64.
    pub fn picture(&mut self) -> String {
        let size = self.call("Page.getLayoutMetrics", json!({}))["cssContentSize"].clone();
        let clip = json!({"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1});
        let asked = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        self.call("Page.captureScreenshot", asked)["data"].as_str().expect("a picture").to_owned()
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let mut command = json!({"id": self.next, "method": method, "params": params});
        if !self.session.is_empty() {
            command["sessionId"] = self.session.clone().into();
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).expect("the browser listens");
        loop {
            let mut message = Vec::new();
            let read = self.answers.read_until(0, &mut message).expect("the browser answers");
            assert!(read > 0, "the browser ended at {method}");
            message.pop();
            let mut message: Value = serde_json::from_slice(&message).expect("JSON");
            if message["id"] == self.next {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
            self.hear(&message);
        }
    }

    fn hear(&mut self, message: &Value) {
        let params = &message["params"];
        let complaint = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => Some(&params["exceptionDetails"]),
            Some("Runtime.consoleAPICalled")
                if ["error", "warning", "assert"].iter().any(|kind| params["type"] == *kind) =>
            {
                Some(&params["args"])
            }
            Some("Log.entryAdded") if params["entry"]["level"] != "verbose" => Some(&params["entry"]),
            _ => None,
        };
        self.complaints.extend(complaint.map(Value::to_string));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
