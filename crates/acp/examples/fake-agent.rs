//! The fake agent as a program, built along with this crate's tests, which start it.

fn main() -> anyhow::Result<()> {
    fake_agent::run(std::env::args().skip(1))
}
