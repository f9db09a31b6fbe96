//! The `fake-agent` program: see the library.

fn main() -> anyhow::Result<()> {
    fake_agent::run(std::env::args().skip(1))
}
