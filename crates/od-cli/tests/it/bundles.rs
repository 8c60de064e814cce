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
    assert!(String::from_utf8_lossy(&output.stdout).contains("cut short"), "{output:?}");
    assert_eq!(bench.od(&["artifacts", "import", "page.html"]).status.code(), Some(1));
    assert_eq!(bench.od(&["verify", "missing.odb"]).status.code(), Some(5));
}
