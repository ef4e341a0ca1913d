use cc::Setting;

/// Some of the algorithm's parameters, each with a value within its limits, and often at them.
pub fn settings(name: &str, picks: &[(u16, u64)]) -> Vec<(&'static str, Setting)> {
    let known = cc::parameters(name).unwrap();
    let one = |&(which, value): &(u16, u64)| {
        let parameter = known.get(usize::from(which) % known.len().max(1))?;
        let setting = match parameter.limits {
            None => Setting::Flag(value % 2 == 1),
            Some((least, most)) => Setting::Number(match value % 4 {
                0 => least,
                1 => most,
                _ => least + (value % (most - least + 1) as u64) as i64,
            }),
        };
        Some((parameter.name, setting))
    };
    picks.iter().filter_map(one).collect()
}
