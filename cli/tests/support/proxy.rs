//! A network between two programs that can be told to misbehave.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What the network does with what it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Carries it.
    Passes,
    /// Carries each piece so much later.
    Delays(Duration),
    /// Keeps it until that is over: packets are lost and sent again without success.
    Stalls,
    /// Takes no connection and has cut those that were there.
    Refuses,
}

/// A port that leads to another one.
pub struct Proxy {
    /// Where it is, `http://127.0.0.1:PORT`.
    pub url: String,
    network: Arc<Network>,
}

struct Network {
    manner: Mutex<Manner>,
    ends: Mutex<Vec<TcpStream>>,
    connections: AtomicUsize,
}

impl Proxy {
    /// Leads to `target`, an address with or without `http://`.
    pub fn to(target: &str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let network = Arc::new(Network {
            manner: Mutex::new(Manner::Passes),
            ends: Mutex::default(),
            connections: AtomicUsize::new(0),
        });
        let (shared, target) = (network.clone(), target.trim_start_matches("http://").to_owned());
        thread::spawn(move || {
            for near in listener.incoming() {
                shared.connections.fetch_add(1, SeqCst);
                if shared.manner() == Manner::Refuses {
                    continue;
                }
                let (Ok(near), Ok(far)) = (near, TcpStream::connect(&target)) else { continue };
                shared.join(near, far);
            }
        });
        Proxy { url, network }
    }

    /// From now on it behaves like this.
    pub fn set(&self, manner: Manner) {
        *self.network.manner.lock().expect("unpoisoned") = manner;
        if manner == Manner::Refuses {
            self.cut();
        }
    }

    /// Breaks every connection.
    pub fn cut(&self) {
        for end in self.network.ends.lock().expect("unpoisoned").drain(..) {
            // It may be closed already.
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    /// Connections that were asked for so far.
    pub fn connections(&self) -> usize {
        self.network.connections.load(SeqCst)
    }
}

impl Network {
    fn manner(&self) -> Manner {
        *self.manner.lock().expect("unpoisoned")
    }

    /// Carries what comes from either end to the other.
    fn join(self: &Arc<Self>, near: TcpStream, far: TcpStream) {
        let copy = |end: &TcpStream| end.try_clone().expect("a second handle");
        self.ends.lock().expect("unpoisoned").extend([copy(&near), copy(&far)]);
        for (from, to) in [(copy(&near), copy(&far)), (far, near)] {
            let network = self.clone();
            thread::spawn(move || network.carry(from, to));
        }
    }

    fn carry(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut piece = [0; 16 << 10];
        while let Ok(length @ 1..) = from.read(&mut piece) {
            loop {
                match self.manner() {
                    Manner::Stalls => thread::sleep(Duration::from_millis(10)),
                    Manner::Delays(time) => break thread::sleep(time),
                    Manner::Passes | Manner::Refuses => break,
                }
            }
            if to.write_all(&piece[..length]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    }
}
