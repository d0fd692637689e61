//! An address to listen on.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

use super::finding::Finding;

const CHECK: &str = "port";

/// Whether a role could listen there now.
pub(super) fn check(address: SocketAddr) -> Finding {
    let error = match TcpListener::bind(address) {
        Ok(_) if address.ip().is_loopback() => {
            return Finding::ok(CHECK, format!("{address} is free, for this machine alone"));
        }
        Ok(_) => {
            let found = format!(
                "{address} is free; a coordinator listens there once it has tokens (`ludus token create`)"
            );
            return Finding::ok(CHECK, found);
        }
        Err(error) => error,
    };
    let port = address.port();
    let advice = match error.kind() {
        ErrorKind::AddrInUse => {
            format!("`ss -ltnp 'sport = :{port}'` says who listens there: end it, or choose another port")
        }
        ErrorKind::PermissionDenied => "choose a port from 1024 on, which need no rights".to_owned(),
        ErrorKind::AddrNotAvailable => {
            "this machine does not have that address: `ip addr` lists its own".to_owned()
        }
        _ => "choose another address".to_owned(),
    };
    Finding::problem(CHECK, format!("nobody can listen at {address}: {error}"), advice)
}

#[cfg(test)]
mod tests {
    use super::super::finding::Health;
    use super::*;

    #[test]
    fn a_port_in_use_and_an_address_of_another_machine_are_problems() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        let finding = check(address);
        assert_eq!(finding.state, Health::Problem);
        assert!(finding.advice.unwrap().contains(&address.port().to_string()));
        // 192.0.2.0/24 is for documentation and nobody's.
        let foreign = check("192.0.2.1:7777".parse().unwrap());
        assert!(foreign.advice.unwrap().contains("ip addr"));
        assert_eq!(check("127.0.0.1:0".parse().unwrap()).state, Health::Ok);
    }
}
