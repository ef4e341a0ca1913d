//! No algorithm panics, lets its window or its pacing rate go to nothing, raises its window above its clamp, changes
//! its columns, or depends on anything but its calls. This holds for any calls of a stack, in any order, and for any
//! parameters.

use crate::settings::settings;
use crate::stack::{Model, columns, operation};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn every_algorithm_survives(
        name in prop::sample::select(&cc::NAMES[..]),
        offset in prop_oneof![Just(0), Just(u32::MAX - 500), any::<u32>()],
        picks in prop_oneof![Just(Vec::new()), prop::collection::vec(any::<(u16, u64)>(), 1..8)],
        operations in prop::collection::vec(operation(), 1..400),
    ) {
        let settings = settings(name, &picks);
        let model = || Model::new(cc::create_with(name, &settings).unwrap(), offset);
        let (mut one, mut other) = (model(), model());
        for operation in &operations {
            one.apply(operation);
            other.apply(operation);
            prop_assert!(one.sk.snd_cwnd >= 1, "no window");
            prop_assert_eq!(&one.sk, &other.sk);
        }
        prop_assert_eq!(columns(&*one.cc), one.columns.clone());
        prop_assert_eq!(one.cc.state(), other.cc.state());
        prop_assert_eq!(format!("{:?}", one.cc), format!("{:?}", other.cc));
    }
}
