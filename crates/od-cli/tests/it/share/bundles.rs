//! Bundles at the command line: one machine makes a file, another one checks it and takes it in.

use crate::bench::Bench;

#[test]
fn a_bundle_goes_from_one_machine_to_another() {
    let (one, two) = (Bench::with_project(), Bench::with_project());
    let id = one.with_artifact();
    let key = one.json(&["keys", "export-public"])["publicKey"].clone();
    let key = key.as_str().unwrap();
    one.good(&["artifacts", "export", "live", "--bundle", "live.odb"]);
    one.good(&["projects", "export", "--bundle", "all.odb"]);
    std::fs::copy(one.project().join("live.odb"), two.project().join("live.odb")).unwrap();

    let verified = two.json(&["verify", "live.odb"]);
    assert_eq!((&verified["holds"], &verified["signerIs"]), (&true.into(), &"new".into()));
    assert_eq!(verified["signer"], key);
    two.good(&["keys", "trust", key, "--name", "Ada"]);
    let imported = two.json(&["artifacts", "import", "live.odb"]);
    assert_eq!(
        (&imported["signerIs"], &imported["imported"][0]["from"]),
        (&"known".into(), &id.into())
    );
    let own = imported["imported"][0]["id"].as_str().unwrap();
    two.good(&["artifacts", "show", own]);
    let refused = two.od(&["artifacts", "refresh", own]);
    assert_eq!(refused.status.code(), Some(9), "nobody has allowed it here: {refused:?}");
    assert!(two.good(&["keys", "signers"]).contains("Ada, trusted since"));

    two.good(&["keys", "revoke", &key[8..24]]);
    assert_eq!(two.od(&["verify", "live.odb"]).status.code(), Some(1));
    assert_eq!(two.od(&["artifacts", "import", "live.odb"]).status.code(), Some(8));
    assert_eq!(two.od(&["keys", "trust", key]).status.code(), Some(8));
}

#[test]
fn what_is_no_bundle_is_said_to_be_none() {
    let bench = Bench::with_project();
    bench.write("page.html", "<p>no bundle</p>");
    let output = bench.od(&["verify", "page.html"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("this is no .odb bundle"),
        "{output:?}"
    );
    assert_eq!(bench.od(&["artifacts", "import", "page.html"]).status.code(), Some(1));
    assert_eq!(bench.od(&["verify", "missing.odb"]).status.code(), Some(5));
}

#[test]
fn a_bundle_whose_artifacts_are_here_is_said_to_bring_copies() {
    let bench = Bench::with_project();
    let id = bench.with_artifact();
    bench.good(&["artifacts", "export", "live", "--bundle", "live.odb"]);
    let said = bench.good(&["artifacts", "import", "live.odb", "--dry-run"]);
    assert!(said.contains(&format!("the same is already here as {id}")), "{said}");
    bench.write("metrics.json", r#"{ "n": 7 }"#);
    bench.good(&["artifacts", "refresh", "live"]);
    let said = bench.json(&["artifacts", "import", "live.odb"]);
    assert!(said["imported"][0]["alreadyHere"].is_null(), "its data is another now: {said}");
}

#[test]
fn a_key_that_was_never_met_is_not_revoked_and_ones_own_needs_a_word() {
    let (one, two) = (Bench::with_project(), Bench::with_project());
    let foreign = two.json(&["keys", "export-public"])["publicKey"].clone();
    assert_eq!(one.od(&["keys", "revoke", foreign.as_str().unwrap()]).status.code(), Some(5));
    let own = one.json(&["keys", "export-public"])["publicKey"].clone();
    let own = own.as_str().unwrap();
    assert_eq!(one.od(&["keys", "revoke", own]).status.code(), Some(6));
    assert_eq!(one.json(&["keys", "export-public"])["publicKey"], own);
    one.good(&["keys", "revoke", own, "--yes"]);
    assert_ne!(one.json(&["keys", "export-public"])["publicKey"], own);
}
