//! Whatever a stack tells them, in whatever order: no algorithm panics, lets its window or its pacing rate go to nothing,
//! exceeds the window's clamp, changes its columns, or depends on anything but what it was told.

mod stack;

use proptest::prelude::*;
use stack::{Model, columns, operation};

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn every_algorithm_survives(
        name in prop::sample::select(&cc::NAMES[..]),
        offset in prop_oneof![Just(0), Just(u32::MAX - 500), any::<u32>()],
        operations in prop::collection::vec(operation(), 1..400),
    ) {
        let model = || Model::new(cc::create(name).unwrap(), offset);
        let (mut one, mut other) = (model(), model());
        for operation in &operations {
            one.apply(operation);
            other.apply(operation);
            prop_assert!(one.sk.snd_cwnd >= 1, "no window");
            prop_assert_eq!(&one.sk, &other.sk);
        }
        prop_assert_eq!(columns(&*one.cc), one.columns.clone());
        prop_assert_eq!(format!("{:?}", one.cc), format!("{:?}", other.cc));
    }
}
