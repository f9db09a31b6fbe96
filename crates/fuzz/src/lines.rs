//! Any bytes from an agent, in chunks of any size: nothing panics, chunks do not matter, and a
//! prompt ends once.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((chunk, bytes)) = input.split_first() else { return };
    acp::fuzzing::read(bytes, usize::from(*chunk) + 1);
});
