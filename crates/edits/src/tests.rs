use serde_json::json;

use crate::{Operation, edit, values};

const SCENARIO: &str = r#"# A scenario of mine.

name = "mine"  # it stays
duration = "20 s"

[topology]
kind = "graph"

# The nodes.
[topology.nodes]
h1 = {}  # a host
s1 = { kind = "switch" }

# The first link.
[[topology.links]]
between = ["h1", "s1"]
rate = "50 Mbit/s"  # measured
loss = [
  "1 %",  # before
  "2 %",
]

# The second link.
[[topology.links]]
between = ["s1", "h2"]
reverse = { delay = "1 ms" }
"#;

fn done(text: &str, operations: serde_json::Value) -> String {
    let operations: Vec<Operation> = serde_json::from_value(operations).unwrap();
    edit(text, &operations).unwrap()
}

/// The lines that two texts do not share, in order: `-` of the first, `+` of the second.
fn difference(before: &str, after: &str) -> Vec<String> {
    let (a, b): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let end = a[same..].iter().rev().zip(b[same..].iter().rev()).take_while(|(x, y)| x == y).count();
    let gone = a[same..a.len() - end].iter().map(|line| format!("-{line}"));
    gone.chain(b[same..b.len() - end].iter().map(|line| format!("+{line}"))).collect()
}

fn changes(operations: serde_json::Value) -> Vec<String> {
    difference(SCENARIO, &done(SCENARIO, operations))
}

#[test]
fn nothing_done_changes_nothing() {
    for text in [SCENARIO, "", "a = 1", "a = 1\n\n\n# end", "# only this\n", "\n\n[a]\n"] {
        assert_eq!(done(text, json!([])), text);
    }
}

#[test]
fn a_value_changes_in_its_line() {
    let key = json!(["topology", "links", 0, "rate"]);
    let made = changes(json!([{"do": "set", "key": key, "value": "5 Mbit/s"}]));
    assert_eq!(made, ["-rate = \"50 Mbit/s\"  # measured", "+rate = \"5 Mbit/s\"  # measured"]);
}

#[test]
fn a_new_value_is_the_last_of_its_table() {
    let made = changes(json!([{"do": "set", "key": ["topology", "links", 1, "delay"], "value": "5 ms"}]));
    assert_eq!(made, ["+delay = \"5 ms\""]);
    let made = changes(json!([{"do": "set", "key": ["seed"], "value": 7}]));
    assert_eq!(made, ["+seed = 7"]);
}

#[test]
fn inline_tables_keep_their_spaces() {
    let made = changes(json!([{"do": "set", "key": ["topology", "links", 1, "reverse", "loss"], "value": 0.5}]));
    assert_eq!(made, ["-reverse = { delay = \"1 ms\" }", "+reverse = { delay = \"1 ms\", loss = 0.5 }"]);
    let both = json!([
        {"do": "set", "key": ["topology", "links", 1, "reverse", "loss"], "value": 0.5},
        {"do": "unset", "key": ["topology", "links", 1, "reverse", "loss"]}
    ]);
    assert_eq!(changes(both), [""; 0]);
}

#[test]
fn missing_tables_are_made() {
    let made = changes(json!([{"do": "set", "key": ["topology", "links", 0, "reverse", "delay"], "value": "1 ms"}]));
    assert_eq!(made, ["+reverse = { delay = \"1 ms\" }"]);
    let made = changes(json!([{"do": "set", "key": ["record", "packets"], "value": false}]));
    assert_eq!(made, ["+", "+[record]", "+packets = false"]);
    let new = done("name = \"a\"\n", json!([{"do": "set", "key": ["topology", "nodes", "h1"], "value": {}}]));
    assert_eq!(new, "name = \"a\"\n\n[topology]\n\n[topology.nodes]\nh1 = {}\n");
}

#[test]
fn nodes_and_links_are_added_as_the_others_stand() {
    let made = changes(json!([{"do": "set", "key": ["topology", "nodes", "h2"], "value": {}}]));
    assert_eq!(made, ["+h2 = {}"]);
    let link = json!({"between": ["h1", "h2"], "rate": "1 Mbit/s"});
    let made = changes(json!([{"do": "insert", "key": ["topology", "links"], "at": 2, "value": link}]));
    assert_eq!(made, ["+", "+[[topology.links]]", "+between = [\"h1\", \"h2\"]", "+rate = \"1 Mbit/s\""]);
    let made = changes(json!([{"do": "insert", "key": ["topology", "links"], "at": 1, "value": link}]));
    assert_eq!(made.len(), 4, "{made:?}");
}

/// The tables of a list may stand between those of another one.
#[test]
fn the_first_table_of_a_scattered_list_is_before_its_others() {
    let text = "[[a.x]]\nn = 1\n\n[[b.x]]\nn = 2\n\n[[a.x]]\nn = 3\n";
    let made = done(text, json!([{"do": "insert", "key": ["b", "x"], "at": 0, "value": {"n": 0}}]));
    assert_eq!(made, "[[a.x]]\nn = 1\n\n[[b.x]]\nn = 0\n\n[[b.x]]\nn = 2\n\n[[a.x]]\nn = 3\n");
}

#[test]
fn a_list_of_tables_begins_with_its_first() {
    let made = changes(json!([{"do": "set", "key": ["flows"], "value": [{"from": "h1", "to": "h2"}]}]));
    assert_eq!(made, ["+", "+[[flows]]", "+from = \"h1\"", "+to = \"h2\""]);
}

#[test]
fn a_comment_goes_with_its_table() {
    let made = done(SCENARIO, json!([{"do": "unset", "key": ["topology", "links", 0]}]));
    assert!(!made.contains("# The first link."), "{made}");
    assert!(made.contains("# The second link.\n[[topology.links]]\nbetween = [\"s1\", \"h2\"]"), "{made}");
    let made = done(SCENARIO, json!([{"do": "unset", "key": ["topology", "links", 1]}]));
    assert!(made.contains("# The first link.") && !made.contains("# The second link."), "{made}");
}

#[test]
fn the_comment_at_the_top_stays() {
    let made = changes(json!([{"do": "unset", "key": ["name"]}]));
    assert_eq!(made, ["-name = \"mine\"  # it stays"]);
}

#[test]
fn lists_on_several_lines_keep_their_comments() {
    let item = json!(["topology", "links", 0, "loss", 1]);
    let made = changes(json!([{"do": "unset", "key": item}]));
    assert_eq!(made, ["-  \"2 %\","]);
    let made = changes(json!([{"do": "insert", "key": ["topology", "links", 0, "loss"], "at": 2, "value": "3 %"}]));
    assert_eq!(made, ["+  \"3 %\","]);
}

#[test]
fn lists_on_one_line_keep_their_spaces() {
    let text = "a = [\"x\", \"y\"] # z\n";
    assert_eq!(
        done(text, json!([{"do": "insert", "key": ["a"], "at": 0, "value": "w"}])),
        "a = [\"w\", \"x\", \"y\"] # z\n"
    );
    assert_eq!(
        done(text, json!([{"do": "insert", "key": ["a"], "at": 2, "value": "w"}])),
        "a = [\"x\", \"y\", \"w\"] # z\n"
    );
    assert_eq!(done(text, json!([{"do": "unset", "key": ["a", 0]}])), "a = [\"y\"] # z\n");
    assert_eq!(done(text, json!([{"do": "unset", "key": ["a", 1]}])), "a = [\"x\"] # z\n");
    assert_eq!(done(text, json!([{"do": "unset", "key": ["a", 1]}, {"do": "unset", "key": ["a", 0]}])), "");
}

#[test]
fn a_key_is_renamed_in_its_place() {
    let made = changes(json!([{"do": "rename", "key": ["topology", "nodes", "h1"], "to": "alice"}]));
    assert_eq!(made, ["-h1 = {}  # a host", "+alice = {}  # a host"]);
    let sections = "[n.a]\nx = 1\n\n# of b\n[n.b]\nx = 2\n";
    let made = done(sections, json!([{"do": "rename", "key": ["n", "a"], "to": "c"}]));
    assert_eq!(made, "[n.c]\nx = 1\n\n# of b\n[n.b]\nx = 2\n");
}

#[test]
fn what_does_not_fit_is_refused() {
    for operation in [
        json!({"do": "set", "key": [], "value": 1}),
        json!({"do": "set", "key": ["name", "x"], "value": 1}),
        json!({"do": "set", "key": ["seed"], "value": null}),
        json!({"do": "set", "key": ["topology", "links", 5, "rate"], "value": 1}),
        json!({"do": "unset", "key": ["nothing"]}),
        json!({"do": "insert", "key": ["topology"], "at": 0, "value": 1}),
        json!({"do": "insert", "key": ["topology", "links"], "at": 3, "value": {}}),
        json!({"do": "rename", "key": ["topology", "nodes", "h1"], "to": "s1"}),
    ] {
        let operations: Vec<Operation> = serde_json::from_value(json!([operation])).unwrap();
        assert!(edit(SCENARIO, &operations).is_err(), "{operation}");
    }
    assert!(edit("a = ", &[]).is_err());
}

#[test]
fn values_are_those_that_were_written_in_their_order() {
    let text = "b = 1.0\na = 'x'\n[t]\nz = [1, true]\ny = { w = -2 }\n[[l]]\nk = \"v\"\n[[l]]\n";
    let found = serde_json::to_string(&values(text).unwrap()).unwrap();
    assert_eq!(found, r#"{"b":1.0,"a":"x","t":{"z":[1,true],"y":{"w":-2}},"l":[{"k":"v"},{}]}"#);
}

#[test]
fn a_text_that_json_cannot_say_has_no_values() {
    for text in ["a = 2020-01-01", "a = inf", "a = nan", "a = ", "a = 99999999999999999999"] {
        assert!(values(text).is_err(), "{text}");
    }
}
