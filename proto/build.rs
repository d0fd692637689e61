//! Compiles the protocol with protox, so that no `protoc` has to be installed.
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let files = ["ludus/v1/game.proto", "ludus/v1/cluster.proto"];
    for file in files {
        println!("cargo:rerun-if-changed={file}");
    }
    let descriptors = protox::compile(files, ["."])?;
    let services_only = "#[cfg(feature = \"grpc\")]";
    tonic_prost_build::configure()
        .client_mod_attribute("ludus.v1", services_only)
        .server_mod_attribute("ludus.v1", services_only)
        .compile_fds(descriptors)?;
    Ok(())
}
