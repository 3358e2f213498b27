use super::*;

#[test]
fn the_socket_is_what_stands_before_the_last_two_commas() {
    let socket_of = |text: &str| socket(OsStr::new(text)).map(|path| path.into_string().unwrap());
    assert_eq!(socket_of("/tmp/tmux-0/default,123,0").as_deref(), Some("/tmp/tmux-0/default"));
    assert_eq!(socket_of("/tmp/a,b,c,123,0").as_deref(), Some("/tmp/a,b,c"));
    for bad in ["", "/tmp/x", "/tmp/x,1", "/tmp/x,1,", "/tmp/x,,1", "/tmp/x,a,1", "x,1,2", "-x,1,2", ",1,2"] {
        assert_eq!(socket_of(bad), None, "{bad:?}");
    }
    let not_utf8 = OsStr::from_bytes(b"/tmp/\xff,1,2");
    assert_eq!(socket(not_utf8).unwrap().as_bytes(), b"/tmp/\xff");
}

#[test]
fn a_pane_id_is_a_percent_sign_and_a_number() {
    assert!(is_pane_id("%0") && is_pane_id("%1234567890"));
    for bad in ["", "%", "0", "%-1", "% 1", "%1 ", "%a", "%12345678901", "@1", "{last}", "-t"] {
        assert!(!is_pane_id(bad), "{bad:?}");
    }
}

#[test]
fn only_the_pane_that_was_asked_for_is_an_answer() {
    assert_eq!(parse_answer(b"42|%3\n", "%3").unwrap(), Pane { pid: 42, id: "%3".to_owned() });
    assert!(matches!(parse_answer(b"|\n", "%3"), Err(TmuxError::PaneGone { pane }) if pane == "%3"));
    for bad in
        [&b""[..], b"\n", b"42\n", b"42|%4\n", b"|%3\n", b"0|%3\n", b"1|%3\n", b"-2|%3\n", b"\xff|%3\n"]
    {
        assert!(matches!(parse_answer(bad, "%3"), Err(TmuxError::Garbled)), "{bad:?}");
    }
}

#[test]
fn what_tmux_says_brings_no_control_characters_along() {
    assert_eq!(one_line(b"no \x1b[31mserver\nmore\n"), "no \\u{1b}[31mserver");
}

#[test]
fn a_malformed_environment_asks_nobody() {
    let ask = |tmux, pane| pane_process(TmuxEnv { tmux: OsStr::new(tmux), pane }, Duration::ZERO);
    assert!(matches!(ask("x", "%0"), Err(TmuxError::Environment { variable: "TMUX" })));
    assert!(matches!(ask("/x,1,2", "0"), Err(TmuxError::Environment { variable: "TMUX_PANE" })));
}
