//! A cluster over TLS, with certificates made here.

#[path = "support/cluster.rs"]
mod cluster;
#[path = "../../stream/tests/support/redis_server.rs"]
mod redis_server;
mod support;

use std::io::{Read, Write};
use std::net::TcpStream;

use cluster::{Cluster, PARTS};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use support::{Place, TINY, arg, until};

/// An authority and the files of those it vouches for.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Authority(CertifiedIssuer::self_signed(params, key).expect("an authority"))
    }

    /// Writes `NAME.pem` and `NAME.key` for somebody called `names`.
    fn vouch(&self, place: &Place, name: &str, names: &[&str]) -> [String; 2] {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate().expect("a key");
        let certificate =
            CertificateParams::new(names).expect("names").signed_by(&key, &self.0).expect("signed");
        [
            place.file(&format!("{name}.pem"), &certificate.pem()),
            place.file(&format!("{name}.key"), &key.serialize_pem()),
        ]
    }

    fn file(&self, place: &Place, name: &str) -> String {
        place.file(name, &self.0.pem())
    }
}

fn strings(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

#[test]
fn a_cluster_runs_over_mutual_tls_and_who_has_no_certificate_or_trusts_another_is_left_outside() {
    let mut cluster = Cluster::prepare();
    let (ours, theirs) = (Authority::new(), Authority::new());
    let place = &cluster.place;
    let ca = ours.file(place, "ca.pem");
    let [certificate, key] = ours.vouch(place, "server", &["127.0.0.1", "coordinator.example"]);
    let [client, client_key] = ours.vouch(place, "client", &["laboratory"]);
    let [stranger, stranger_key] = theirs.vouch(place, "stranger", &["laboratory"]);
    let other = theirs.file(place, "other.pem");
    cluster.serve = strings(&["--tls-cert", &certificate, "--tls-key", &key, "--tls-client-ca", &ca]);
    let known = ["--tls-cert", &client, "--tls-key", &client_key];
    cluster.access = strings(&[&["--tls-ca", &ca][..], &known].concat());
    cluster.begin(TINY);
    assert!(cluster.url.starts_with("https://127.0.0.1:"), "{}", cluster.url);
    PARTS[2..].iter().for_each(|&part| cluster.raise(part));
    cluster.until_more(1500, 1);

    let url = cluster.url.clone();
    let plain = url.replace("https", "http");
    let by_name = format!("https://localhost:{}", url.rsplit(':').next().expect("a port"));
    let list = |url: &str, access: &[&str]| {
        let args = [&["run", "list", "--coordinator", url][..], access].concat();
        cluster.place.run(&args)
    };
    for (url, access, why) in [
        (&url, &["--tls-ca", &ca][..], "no certificate"),
        (
            &url,
            &["--tls-ca", &ca, "--tls-cert", &stranger, "--tls-key", &stranger_key],
            "another authority's",
        ),
        (&url, &[&["--tls-ca", &other][..], &known].concat(), "the coordinator is not trusted"),
        (&url, &known, "nor by the system"),
        (&plain, &[], "no TLS"),
        (&by_name, &[&["--tls-ca", &ca][..], &known].concat(), "not its name"),
    ] {
        let output = list(url, access);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), text.lines().count()), (Some(1), 1), "{why}: {text}");
        assert!(!text.contains("PRIVATE KEY"), "{text}");
    }
    let named = [&["--tls-ca", &ca, "--tls-name", "coordinator.example"][..], &known].concat();
    assert!(list(&by_name, &named).status.success());
    assert!(list(&url, &[&["--tls-ca", &ca][..], &known].concat()).status.success());
    let doctor = |url: &str, access: &[&str]| {
        let output = cluster.place.run(&[&["doctor", "--coordinator", url][..], access].concat());
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (well, text) = doctor(&by_name, &named);
    assert!(well && text.contains("over TLS") && text.contains("like that of the coordinator"), "{text}");
    let (well, text) = doctor(&url, &known);
    assert!(!well && text.contains("problem") && text.contains("--tls-ca"), "{text}");
    let (well, text) = doctor(&plain, &[]);
    assert!(!well && text.contains("if it speaks TLS, write https://"), "{text}");
    // A command in the coordinator's folder comes the same way.
    let dir = arg(&cluster.data).to_owned();
    let in_folder = [&["token", "list", "--dir", &dir, "--tls-ca", &ca][..], &known].concat();
    cluster.place.ok(&in_folder);
    let end = cluster.end();
    assert!(end.latest >= 2 && cluster.fallen.is_empty());
    for name in ["coordinator", "trainer", "one"] {
        assert!(!cluster.place.log(name).contains("PRIVATE KEY"));
    }
}

#[test]
fn what_is_no_greeting_of_tls_is_hung_up_on_and_files_that_do_not_fit_are_named() {
    let place = Place::new();
    let authority = Authority::new();
    let [certificate, key] = authority.vouch(&place, "server", &["127.0.0.1"]);
    let [_, other] = authority.vouch(&place, "other", &["127.0.0.1"]);
    let empty = place.file("empty.pem", "");
    let data = place.path("data");
    let start = ["coordinator", "--dir", arg(&data), "--listen", "127.0.0.1:0"];
    for (certificate, key, named) in
        [(&certificate, &other, &other), (&empty, &key, &empty), (&certificate, &certificate, &certificate)]
    {
        let refused =
            place.refused(1, &[&start[..], &["--tls-cert", certificate, "--tls-key", key]].concat());
        assert!(refused.contains(named.as_str()) && refused.contains("PEM"), "{refused}");
    }
    // Certificates are no tokens: beyond this machine those are still asked for.
    let open = ["coordinator", "--dir", arg(&data), "--listen", "0.0.0.0:0", "--tls-cert", &certificate];
    let refused = place.refused(1, &[&open[..], &["--tls-key", &key]].concat());
    assert!(refused.contains("ludus token create"), "{refused}");

    let args = [&start[..], &["--tls-cert", &certificate, "--tls-key", &key]].concat();
    let mut coordinator = place.start("coordinator", &args);
    let line = coordinator.first_line();
    let address =
        line.split_whitespace().find_map(|word| word.strip_prefix("https://")).expect("its address");
    let address = address.trim_end_matches(',').to_owned();
    for greeting in [&b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..], b"", b"\x16\x03\x01\x02\x00", &[0; 4096]] {
        let mut connection = TcpStream::connect(&address).expect("connected");
        connection.write_all(greeting).expect("sent");
        let mut rest = Vec::new();
        // Closed or reset, within the patience of the coordinator.
        let _ = connection.read_to_end(&mut rest);
        assert!(!String::from_utf8_lossy(&rest).contains("HTTP/1.1 200"));
    }
    until("it answers over TLS", || {
        let ca = authority.file(&place, "ca.pem");
        let url = format!("https://{address}");
        place.run(&["run", "list", "--coordinator", &url, "--tls-ca", &ca]).status.success().then_some(())
    });
    coordinator.terminate();
    coordinator.ends_well();
}
