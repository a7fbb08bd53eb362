// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//! Compiles the C core: the copy in the package, or that of the repository around it.
use std::path::Path;

/// Of core/src: what the declared functions need.
const SOURCES: [&str; 3] = ["estimator_registry.c", "kinds.c", "retry.c"];
/// Registries of the kinds of algorithms, which kinds.c lists.
const REGISTRIES: [&str; 4] =
    ["first_rto_registry.c", "loss_registry.c", "resend_registry.c", "startup_registry.c"];

fn main() {
    let core = if Path::new("core/src").is_dir() { "core" } else { "../../core" };
    let mut build = cc::Build::new();
    build
        .include(format!("{core}/include"))
        .include(format!("{core}/src"))
        .file("src/shim.c")
        .opt_level(3)
        .flag_if_supported("-std=c11")
        // without contraction doubles are the same on every machine
        .flag_if_supported("-ffp-contract=off")
        .flag_if_supported("-fno-trapping-math")
        .warnings(true);
    for name in SOURCES.iter().chain(&REGISTRIES) {
        build.file(format!("{core}/src/{name}"));
    }
    build.compile("tcplearn");
    println!("cargo:rerun-if-changed={core}/include");
    println!("cargo:rerun-if-changed={core}/src");
    println!("cargo:rerun-if-changed=src/shim.c");
}
