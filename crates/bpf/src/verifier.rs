//! The verifier's messages about a program that it refuses, in an order in which a person can read them.

use messages::Failure;
use serde::Serialize;

/// Lines of the log that lead to the refusal.
const CONTEXT: usize = 8;

/// The parts of a refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The program's name.
    pub program: String,
    /// The verifier's sentence.
    pub message: String,
    /// The line of the source that is to blame, if the object has line information.
    pub source_line: Option<String>,
    /// Its file; known since Linux 6.8.
    pub file: Option<String>,
    /// Its number in the file.
    pub line: Option<u32>,
    /// The end of the verifier's log.
    pub log: String,
}

/// Finds the refusal in what libbpf said. `None` if it failed before the verifier saw a program.
pub(crate) fn refusal(output: &str) -> Option<Refusal> {
    let (before, rest) = output.split_once("-- BEGIN PROG LOAD LOG --\n")?;
    let program = before.rsplit_once("prog '")?.1.split('\'').next()?.to_owned();
    let log = rest.split("-- END PROG LOAD LOG --").next().unwrap_or(rest);
    let lines: Vec<&str> = log.lines().map(str::trim_end).filter(|line| !is_summary(line)).collect();
    let message = lines.iter().rposition(|line| !line.is_empty())?;
    let source = lines[..message].iter().rev().find_map(|line| line.strip_prefix("; "));
    let (source_line, place) = match source.map(|text| text.rsplit_once(" @ ")) {
        Some(Some((text, place))) => (Some(text), place.rsplit_once(':')),
        Some(None) => (source, None),
        None => (None, None),
    };
    Some(Refusal {
        program,
        message: sentence(lines[message]).to_owned(),
        source_line: source_line.map(|text| text.trim().to_owned()),
        file: place.map(|(file, _)| file.to_owned()),
        line: place.and_then(|(_, number)| number.parse().ok()),
        log: lines[message.saturating_sub(CONTEXT)..=message].join("\n"),
    })
}

/// The sentence without the instruction in front of it.
fn sentence(line: &str) -> &str {
    line.find("infinite loop detected").map_or(line, |at| &line[at..])
}

/// The verifier adds these lines at the end, whatever happened.
fn is_summary(line: &str) -> bool {
    ["processed ", "verification time ", "stack depth ", "cur state: ", "old state: "]
        .iter()
        .any(|start| line.starts_with(start))
}

/// The failure to load `label`, from libbpf's `error` and its `output`.
pub(crate) fn failure(label: &str, error: &str, output: &str, refusal: Option<&Refusal>) -> Failure {
    let what = format!("loading {label} into the kernel");
    let Some(refusal) = refusal else {
        let lines: Vec<&str> = output.lines().map(|line| line.trim_start_matches("libbpf: ")).collect();
        let last = &lines[lines.len().saturating_sub(CONTEXT)..];
        let why = if last.is_empty() { error.to_owned() } else { last.join("\n") };
        return Failure::new(what, why).hint(hint(output));
    };
    let mut why = format!("the kernel's verifier refuses the program {}: {}", refusal.program, refusal.message);
    if let Some(source) = &refusal.source_line {
        let place = match (&refusal.file, refusal.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => "at".into(),
        };
        why += &format!("\n  {place}: {source}");
    }
    let hint = hint(&refusal.message);
    Failure::new(what, why).hint(if hint.is_empty() {
        format!("the end of its log:\n{}", refusal.log)
    } else {
        hint.into()
    })
}

/// Known kinds of refusals, by a part of the verifier's sentence.
fn hint(message: &str) -> &'static str {
    let kinds: [(&[&str], &str); 14] = [
        (
            &["invalid mem access 'scalar'", "invalid mem access 'inv'", "invalid mem access 'untrusted"],
            "a pointer came out of arithmetic, or was read by bpf_probe_read_kernel(): take it from a structure of the kernel's \
             (tcp_sk(sk)), field by field",
        ),
        (
            &["_or_null'"],
            "a pointer that may be NULL is used: check it first, e.g. what bpf_sk_storage_get() or bpf_map_lookup_elem() returns",
        ),
        (
            &["unbounded loop", "infinite loop", "back-edge", "loop is not bounded", "jumps is too complex"],
            "give the loop a constant bound (for (i = 0; i < 32; i++)), or use bpf_loop()",
        ),
        (
            &["BPF program is too large", "too many instructions"],
            "the verifier follows every path, at most a million instructions: fewer branches in loops, smaller bounds, \
             __noinline functions",
        ),
        (
            &["unknown func", "program of this type cannot use helper", "helper access"],
            "a congestion control may call few of the kernel's helpers, and release() fewer still",
        ),
        (
            &["calling kernel function", "is not allowed", "kernel function"],
            "this kernel function is not open to congestion controls; tcp_reno_*, tcp_slow_start and tcp_cong_avoid_ai are",
        ),
        (
            &[
                "write support at off",
                "no write support",
                "not allowed to write",
                "only read is supported",
                "beyond the member",
            ],
            "a congestion control may write few fields: snd_cwnd, snd_cwnd_cnt, snd_cwnd_stamp, snd_ssthresh, sk_pacing_rate, \
             sk_pacing_status, ecn_flags, app_limited and icsk_ca_priv: a state of more than 104 bytes reaches beyond it, and \
             belongs into sk_storage",
        ),
        (
            &["same insn cannot be used with different pointers"],
            "the compiler has merged loads from two kinds of memory: put barrier_value(x) from <dumbbell/tcp.h> after one of them",
        ),
        (
            &["invalid CO-RE relocation", "no matching targets found", "failed to resolve CO-RE"],
            "this kernel has no such field: guard it with bpf_core_field_exists()",
        ),
        (
            &["Error loading .BTF into kernel"],
            "if `Invalid offset` is among the reasons: clang has put a small table where the kernel doesn't look for it; declare \
             it `const volatile`",
        ),
        (&["GPL"], "add `char LICENSE[] SEC(\"license\") = \"GPL\";`"),
        (&["stack", "combined stack size"], "512 bytes of stack for all functions: keep state in sk_storage or a map"),
        (&["!read_ok", "uninitialized"], "a variable is used on a path on which nothing was assigned to it"),
        (
            &["math between", "pointer arithmetic"],
            "the verifier allows little arithmetic on pointers: read fields instead",
        ),
    ];
    let known = kinds.iter().find(|(signs, _)| signs.iter().any(|sign| message.contains(sign)));
    known.map_or("", |(_, hint)| hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "libbpf: prog 'calm_init': BPF program load failed: Permission denied\n\
        libbpf: prog 'calm_init': -- BEGIN PROG LOAD LOG --\n\
        0: R1=ctx() R10=fp0\n\
        ; void BPF_PROG(calm_init, struct sock *sk) @ calm.bpf.c:7\n\
        0: (79) r1 = *(u64 *)(r1 +0)\n\
        ; tcp_sk(sk)->snd_cwnd_clamp = 3; @ calm.bpf.c:9\n\
        1: (b7) r2 = 3\n\
        2: (63) *(u32 *)(r1 +1500) = r2\n\
        no write support at off 1500\n\
        processed 3 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0\n\
        -- END PROG LOAD LOG --\n\
        libbpf: prog 'calm_init': failed to load: -13\n\
        libbpf: failed to load object 'calm'\n";

    #[test]
    fn a_refusal_names_program_sentence_and_place() {
        let refusal = refusal(SAID).unwrap();
        assert_eq!(refusal.program, "calm_init");
        assert_eq!(refusal.message, "no write support at off 1500");
        assert_eq!(refusal.source_line.as_deref(), Some("tcp_sk(sk)->snd_cwnd_clamp = 3;"));
        assert_eq!((refusal.file.as_deref(), refusal.line), (Some("calm.bpf.c"), Some(9)));
        assert!(refusal.log.ends_with("= r2\nno write support at off 1500"), "{}", refusal.log);
        let failure = failure("calm", "", SAID, Some(&refusal));
        assert!(failure.why.contains("program calm_init: no write") && failure.why.contains("calm.bpf.c:9: tcp_sk"));
        assert!(failure.hint.contains("snd_cwnd"));
    }

    #[test]
    fn a_state_that_is_too_large_is_told() {
        // Linux refuses a write behind icsk_ca_priv, and one across its end, with these words.
        let across = "write access at off 1280 with size 8 beyond the member of tcp_sock ended at 1284";
        for message in ["no write support to tcp_sock at off 1284", across] {
            assert!(hint(message).contains("more than 104 bytes"), "{message}");
        }
    }

    #[test]
    fn older_kernels_give_the_line_without_its_place() {
        let said = SAID.replace(" @ calm.bpf.c:9", "");
        let refusal = refusal(&said).unwrap();
        assert_eq!(refusal.source_line.as_deref(), Some("tcp_sk(sk)->snd_cwnd_clamp = 3;"));
        assert_eq!((refusal.file, refusal.line), (None, None));
    }

    #[test]
    fn what_fails_before_the_verifier_is_told_as_libbpf_tells_it() {
        let said = "libbpf: prog 'x': relo #1: no matching targets found\nlibbpf: failed to load object\n";
        assert_eq!(refusal(said), None);
        let failure = failure("x", "No such process", said, None);
        assert!(failure.why.starts_with("prog 'x': relo #1") && failure.hint.contains("bpf_core_field_exists"));
    }
}
