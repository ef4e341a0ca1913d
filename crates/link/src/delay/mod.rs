//! Propagation: the way from the serializer to the other end.

mod jitter;
mod line;
#[cfg(test)]
mod tests;

pub(crate) use line::Line;
