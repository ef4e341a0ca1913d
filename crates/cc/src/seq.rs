/// True if `a` comes before `b`. It serves sequence numbers and counts that wrap (RFC 9293 section 3.4).
pub const fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// True if `a` comes after `b`.
pub const fn after(a: u32, b: u32) -> bool {
    before(b, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_survives_the_wrap() {
        assert!(before(u32::MAX, 0) && after(0, u32::MAX));
        assert!(!before(7, 7) && !after(7, 7));
    }
}
