use super::*;

#[test]
fn a_boot_id_is_a_lower_case_uuid_or_nothing() {
    let id = "f3578336-8c50-409b-a868-5982cd0f635e";
    assert_eq!(boot_id(&format!("{id}\n")).as_deref(), Some(id));
    for bad in [
        "",
        "f3578336-8c50-409b-a868-5982cd0f635",
        "f3578336-8c50-409b-a868-5982cd0f635e0",
        "F3578336-8c50-409b-a868-5982cd0f635e",
        "f3578336x8c50-409b-a868-5982cd0f635e",
        "f3578336-8c50-409b-a868-5982cd0f63\u{1b}e",
        "f3578336-8c50-409b-a868-5982cd0f635é",
    ] {
        assert_eq!(boot_id(bad), None, "{bad:?}");
    }
}

#[test]
fn a_namespace_link_names_its_kind_and_inode() {
    assert_eq!(namespace_inode("pid:[4026531836]", "pid"), Some(4_026_531_836));
    for bad in ["pid:[4026531836]", "time:[]", "time:[-1]", "time:4026531834", "time:[1] "] {
        assert_eq!(namespace_inode(bad, "time"), None, "{bad:?}");
    }
}

#[test]
fn names_that_say_nothing_are_no_names() {
    assert_eq!(usable_hostname(" laptop\n").as_deref(), Some("laptop"));
    assert_eq!(usable_hostname("localhost").as_deref(), Some("localhost"));
    for bad in [
        "",
        "  ",
        "unknown",
        "(none)",
        "a\u{1b}[31mb",
        "a\nb",
        "a\u{85}b",
        "a: b",
        "a #b",
        "@a",
        "~",
        &"x".repeat(256),
    ] {
        assert_eq!(usable_hostname(bad), None, "{bad:?}");
    }
}

#[test]
fn the_machine_id_is_derived_and_stable() {
    let raw = b"3d1219c7c4c5404aaa1f6d2a48adfda4\n";
    let derived = derived_machine_id(raw).unwrap();
    // `printf 'git-aitask-lock machine id 1\n3d12…' | git hash-object --stdin`, 32 digits of it.
    // Records keep this value: it must never change.
    assert_eq!(derived, "b8c4753f280e52d49e5a379ae4e6bb0b");
    assert_eq!(derived_machine_id(b"3D1219C7C4C5404AAA1F6D2A48ADFDA4").as_deref(), Some(derived.as_str()));
    for bad in [
        &b""[..],
        b"\n",
        b"uninitialized\n",
        b"00000000000000000000000000000000\n",
        b"3d1219c7c4c5404aaa1f6d2a48adfda",
        b"3d1219c7c4c5404aaa1f6d2a48adfda4a",
        b"3d1219c7-c4c5-404a-aa1f-6d2a48adf",
    ] {
        assert_eq!(derived_machine_id(bad), None, "{:?}", String::from_utf8_lossy(bad));
    }
}

#[test]
fn a_pinned_name_stands_in_for_the_own_one() {
    assert_eq!(here(Some("desk")).hostname.as_deref(), Some("desk"));
    assert_eq!(here(Some("unknown")).hostname, None);
    assert_eq!(here(None).hostname, own_hostname());
}

#[cfg(target_os = "linux")]
#[test]
fn the_table_is_the_one_the_shell_sees() {
    let here = here(None);
    let Some(table) = here.table else {
        println!("skipped: /proc does not show our own process table here");
        return;
    };
    let out = std::process::Command::new("sh")
        .args(["-c", "cat /proc/sys/kernel/random/boot_id; readlink /proc/self/ns/pid"])
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(out.stdout).unwrap(),
        format!("{}\npid:[{}]\n", table.boot_id, table.pid_namespace)
    );
    assert_eq!(here.initial_pid_namespace, table.pid_namespace == INITIAL_PID_NAMESPACE);
}
