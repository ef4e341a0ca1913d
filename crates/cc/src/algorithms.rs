use alloc::boxed::Box;

use crate::{CongestionControl, Parameter, Setting, Unfit};

/// The declarations of an algorithm's manifest: `bpf/algorithms/NAME/algorithm.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The name of the algorithm, e.g. `cubic`.
    pub name: &'static str,
    /// The label of its BPF program, if it has one.
    pub label: Option<&'static str>,
    /// A description.
    pub sentence: &'static str,
    /// True if the algorithm asks the stack to negotiate ECN, whatever the host's setting.
    pub needs_ecn: bool,
    /// True if the algorithm can be simulated: [`create`] knows it.
    pub simulated: bool,
    /// Its parameters.
    pub parameters: &'static [Parameter],
}

/// The result of an algorithm's module.
pub(crate) type Made = Result<Box<dyn CongestionControl>, Unfit>;

include!(concat!(env!("OUT_DIR"), "/declared.rs"));

/// The declarations of the algorithm `name`.
pub fn declared(name: &str) -> Option<&'static Declared> {
    DECLARED.iter().find(|one| one.name == name)
}

/// The algorithm that the BPF program `label` implements: its twin here.
pub fn twin_of(label: &str) -> Option<&'static str> {
    DECLARED.iter().find(|one| one.simulated && one.label == Some(label)).map(|one| one.name)
}

/// A new instance of the algorithm `name`, with its default parameters; `None` if there is no such algorithm.
pub fn create(name: &str) -> Option<Box<dyn CongestionControl>> {
    create_with(name, &[]).ok()
}

/// A new instance of the algorithm `name`, with `settings` in place of defaults.
///
/// # Errors
/// There is no such algorithm, it has no such parameter, or the value lies outside of the parameter's limits.
pub fn create_with(name: &str, settings: &[(&str, Setting)]) -> Result<Box<dyn CongestionControl>, Unfit> {
    instance(declared(name).ok_or(Unfit::Algorithm)?, settings)
}

/// The parameters of the algorithm `name`; `None` if there is no such algorithm.
pub fn parameters(name: &str) -> Option<&'static [Parameter]> {
    declared(name).filter(|one| one.simulated).map(|one| one.parameters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Socket;
    use alloc::format;

    #[test]
    fn every_name_makes_the_algorithm_of_that_name() {
        for name in NAMES {
            assert_eq!(create(name).unwrap().name(), name);
            assert!(parameters(name).is_some());
        }
        assert!(create("unknown").is_none() && parameters("unknown").is_none());
    }

    #[test]
    fn a_program_s_label_names_its_twin() {
        let twins: alloc::vec::Vec<_> =
            DECLARED.iter().filter(|one| one.simulated).filter_map(|one| Some((one.name, one.label?))).collect();
        assert!(twins.len() > 1);
        for (name, label) in twins {
            assert_eq!(twin_of(label), Some(name));
        }
        assert_eq!(twin_of("unknown"), None);
    }

    #[test]
    fn the_send_buffer_is_two_windows_and_for_bbr_three() {
        for name in NAMES {
            let windows = if name.starts_with("bbr") { 3 } else { 2 };
            assert_eq!(create(name).unwrap().sndbuf_expand(), windows, "{name}");
        }
    }

    #[test]
    fn defaults_that_are_spelled_out_change_nothing_and_others_do() {
        for name in NAMES {
            for &parameter in parameters(name).unwrap() {
                let text = |setting| format!("{:?}", create_with(name, &[(parameter.name, setting)]).unwrap());
                let default = format!("{:?}", create(name).unwrap());
                assert_eq!(text(parameter.default), default, "{name}: {}", parameter.name);
                let other = match (parameter.default, parameter.limits) {
                    (Setting::Flag(flag), _) => Setting::Flag(!flag),
                    (Setting::Number(number), Some((least, _))) if number > least => Setting::Number(number - 1),
                    (Setting::Number(number), _) => Setting::Number(number + 1),
                };
                // v2 looks for its plateau at the start of a round anyway.
                if (name, parameter.name) != ("bbr2", "plateau_at_round_start") {
                    assert_ne!(text(other), default, "{name}: {}", parameter.name);
                }
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_in_words() {
        let refusal = |name, setting| format!("{}", create_with(name, &[setting]).unwrap_err());
        for parameter in NAMES.iter().filter_map(|name| parameters(name)).flatten() {
            assert!(parameter.limits.is_none_or(|(least, most)| {
                matches!(parameter.default, Setting::Number(number) if (least..=most).contains(&number))
            }));
        }
        assert_eq!(
            refusal("bbr3", ("beta_keep", Setting::Number(257))),
            "beta_keep: expected an integer from 0 to 256"
        );
        assert_eq!(refusal("bbr3", ("beta_keep", Setting::Flag(true))), "beta_keep: expected an integer from 0 to 256");
        assert_eq!(refusal("bbr2", ("ecn", Setting::Number(1))), "ecn: expected true or false");
        assert_eq!(refusal("dctcp", ("g", Setting::Number(1))), "no parameter g: it has shift_g, alpha_on_init");
        assert_eq!(refusal("reno", ("g", Setting::Number(1))), "no parameter g: it has none");
        assert_eq!(refusal("none", ("g", Setting::Number(1))), "there is no such algorithm");
    }

    #[test]
    fn ecn_is_negotiated_and_echoed_by_a_bbr_that_answers_it() {
        for name in ["bbr2", "bbr3"] {
            assert!(!create(name).unwrap().needs_ecn());
            let mut bbr = create_with(name, &[("ecn", Setting::Flag(true))]).unwrap();
            let mut sk = Socket { rcv_nxt: 1000, is_ack_pending: true, ..Socket::new(1448, 1) };
            bbr.init(&mut sk);
            bbr.cwnd_event(&mut sk, crate::CaEvent::EcnIsCe);
            assert!(bbr.needs_ecn() && sk.ecn_flags.demand_cwr, "{name}");
            assert_eq!(sk.immediate_ack, Some(crate::ImmediateAck { rcv_nxt: 1000, ece: false }));
        }
    }
}
