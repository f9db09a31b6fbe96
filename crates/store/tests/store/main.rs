//! The store from outside: what it keeps, what a crash leaves, what reading and writing cost.

mod cost;
mod disk;
mod durability;
mod golden;
mod opening;
mod records;
mod reference;
mod sample;
