//! Files of an artifact: what is in them, what is not, and that they need nothing else.

use std::path::Path;
use std::process::Command;

use od_app::artifacts::{self, Address, CreateArtifact, ExportArtifact, Reading};
use od_app::{Caller, Mode};
use od_core::error::{ErrorCode, Failure};
use od_core::export::{ExportFormat, ExportedFile};
use od_core::ids::ArtifactId;
use serde_json::{Value, json};

use crate::world::{World, id};

const TEMPLATE: &str = "<!doctype html><html lang=\"en\"><head><title>T</title></head><body><h1>{{data.title}}</h1>\
    <figure data-od-chart=\"bar\" data-od-repeat=\"row in data.rows\" data-od-x=\"row.name\" data-od-y=\"row.n\"></figure></body></html>";

async fn create(world: &World, title: &str, template: &str, data: Value) -> ArtifactId {
    let body = json!({
        "input": { "title": title, "document": { "format": "html_template_v2", "dataJson": data } },
        "templateHtml": template,
        "provenanceJson": { "generatedBy": "agent", "sources": [{ "label": "A & <b>", "type": "connector" }] },
    });
    let request = CreateArtifact { project: id("web"), body: body.into(), reading: Reading::Now };
    let created = artifacts::create(&world.app, &Caller::Person, request, Mode::Commit).await;
    created.unwrap_or_else(|err| panic!("{err}: {err:?}")).stored.id.clone()
}

async fn export(
    world: &World,
    artifact: &ArtifactId,
    format: ExportFormat,
    table: Option<&str>,
) -> Result<ExportedFile, Failure> {
    let address = Address { project: None, artifact: artifact.clone() };
    let request = ExportArtifact { address, format, table: table.map(str::to_owned) };
    artifacts::export(&world.app, &Caller::Person, request).await.map_err(Failure::from)
}

fn data() -> Value {
    json!({ "title": "Hello", "rows": [{ "name": "=1+1", "n": -2 }, { "name": "b,c", "n": 3.5 }] })
}

#[tokio::test]
async fn every_form_has_the_values_and_where_they_came_from() {
    let world = World::new().await;
    let artifact = create(&world, "Sales </footer><script>1", TEMPLATE, data()).await;
    let html = export(&world, &artifact, ExportFormat::Html, None).await.unwrap().text;
    assert!(html.starts_with(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv"
    ));
    assert!(html.contains("<h1>Hello</h1>") && html.ends_with("</footer>\n</body></html>"));
    assert!(html.contains("Sales &lt;/footer&gt;&lt;script&gt;1") && !html.contains("<script"));
    assert!(html.contains("Sources: A &amp; &lt;b&gt;") && html.contains("sha256:"));
    let csv = export(&world, &artifact, ExportFormat::Csv, Some("rows")).await.unwrap();
    assert_eq!(csv.text, "name,n\r\n'=1+1,-2\r\n\"b,c\",3.5\r\n");
    let chart = export(&world, &artifact, ExportFormat::Csv, Some("chart:1")).await.unwrap();
    assert_eq!(chart.text, csv.text);
    let text = export(&world, &artifact, ExportFormat::Json, None).await.unwrap().text;
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["data"], data());
    assert_eq!(value["provenance"]["sources"][0]["label"], "A & <b>");
    let document = export(&world, &artifact, ExportFormat::Markdown, None).await.unwrap().text;
    assert!(document.contains("| b,c | 3.5 |") && document.contains("- **title**: Hello"));
    assert!(document.contains("Source: A \\& \\<b\\>."));
}

#[tokio::test]
async fn the_same_artifact_gives_the_same_bytes() {
    let world = World::new().await;
    let artifact = create(&world, "Sales", TEMPLATE, data()).await;
    for format in [ExportFormat::Html, ExportFormat::Json, ExportFormat::Markdown] {
        let one = export(&world, &artifact, format, None).await.unwrap();
        world.clock.advance(std::time::Duration::from_secs(86_400));
        assert_eq!(export(&world, &artifact, format, None).await.unwrap(), one);
    }
}

#[tokio::test]
async fn a_table_that_is_not_there_is_refused_with_those_that_are() {
    let world = World::new().await;
    let artifact = create(&world, "Sales", TEMPLATE, data()).await;
    for table in [None, Some("nothing"), Some("title"), Some("chart:2"), Some("chart:0"), Some("")]
    {
        let failure = export(&world, &artifact, ExportFormat::Csv, table).await.unwrap_err();
        assert_eq!(failure.code, ErrorCode::BadRequest, "{table:?}");
        assert!(failure.message.contains("rows, chart:1"), "{}", failure.message);
    }
    let plain = create(&world, "Plain", "<p>{{data.list.0}}</p>", json!({ "list": [1, 2] })).await;
    let only = export(&world, &plain, ExportFormat::Csv, None).await.unwrap();
    assert_eq!((only.name.as_str(), only.text.as_str()), ("plain-list.csv", "value\r\n1\r\n2\r\n"));
}

/// Every bundled template, opened from a disk: Chromium loads it and has nothing to complain about.
#[tokio::test]
async fn a_page_from_a_disk_breaks_no_policy() {
    let program = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    if !Path::new(&program).exists() {
        eprintln!("skipped: {program} is not installed");
        return;
    }
    let gallery =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills/live-artifact/assets/templates");
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for entry in std::fs::read_dir(&gallery).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "html") {
            continue;
        }
        let template = std::fs::read_to_string(&path).unwrap();
        let data = std::fs::read(path.with_extension("data.json")).unwrap();
        let data: Value = serde_json::from_slice(&data).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let artifact = create(&world, &name, &template, data).await;
        let html = export(&world, &artifact, ExportFormat::Html, None).await.unwrap().text;
        let file = folder.path().join(format!("{name}.html"));
        std::fs::write(&file, &html).unwrap();
        let output = Command::new(&program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--enable-logging=stderr",
                "--dump-dom",
            ])
            .arg("--host-resolver-rules=MAP * ~NOTFOUND")
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg(format!("file://{}", file.display()))
            .output()
            .unwrap();
        let dom = String::from_utf8_lossy(&output.stdout);
        assert!(dom.contains("<footer style="), "{name}: no footer");
        assert!(dom.contains("Content-Security-Policy"), "{name}");
        let log = String::from_utf8_lossy(&output.stderr);
        let complaints: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
        assert!(complaints.is_empty(), "{name}: {complaints:#?}");
        seen += 1;
    }
    assert_eq!(seen, 8);
}

/// Opens a CSV file as a spreadsheet does, and returns its sheet as XML; nothing if none is installed.
fn opened(csv: &str, folder: &Path, separator: char) -> Option<String> {
    let program = std::env::var("SOFFICE").unwrap_or_else(|_| "/usr/bin/soffice".to_owned());
    if !Path::new(&program).exists() {
        #[expect(clippy::print_stderr, reason = "a test that could not look says so")]
        {
            eprintln!("skipped: {program} is not installed");
        }
        return None;
    }
    std::fs::write(folder.join("table.csv"), csv).unwrap();
    let output = Command::new(&program)
        .arg(format!("-env:UserInstallation=file://{}", folder.join("profile").display()))
        // Separator, quotation mark, UTF-8, first line, no formats, American English.
        .arg(format!("--infilter=CSV:{},34,76,1,,1033", u32::from(separator)))
        .args(["--headless", "--convert-to", "fods", "--outdir"])
        .args([folder, &folder.join("table.csv")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    Some(std::fs::read_to_string(folder.join("table.fods")).unwrap())
}

/// The texts of a sheet's cells, in order.
fn cells(sheet: &str) -> Vec<String> {
    let body = sheet.split("<office:spreadsheet>").nth(1).unwrap();
    let cells = body.split("<table:table-cell").skip(1).filter_map(|cell| {
        let cell = cell.split("</table:table-cell>").next()?;
        let parts: Vec<&str> = cell
            .split("<text:p>")
            .skip(1)
            .map(|part| part.split("</text:p>").next().unwrap())
            .collect();
        (!parts.is_empty()).then(|| parts.join("\n"))
    });
    let plain = |cell: String| {
        cell.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&apos;", "'")
            .replace("&amp;", "&")
    };
    cells.map(plain).collect()
}

#[tokio::test]
async fn a_spreadsheet_opens_the_values_of_the_page_and_runs_none_of_them() {
    let world = World::new().await;
    let rows = json!([
        { "name": "Grüße, \"Welt\"", "n": -2.5, "note": "two\nlines" },
        { "name": "=HYPERLINK(\"http://x.invalid\")", "n": 1200, "note": "+1+1" },
        { "name": "-1+1", "n": 0, "note": "@SUM(A1)" },
        { "name": "a;=1+1", "n": 3, "note": " =1+1" },
    ]);
    let artifact =
        create(&world, "Sales", TEMPLATE, json!({ "title": "Hello", "rows": rows })).await;
    let csv = export(&world, &artifact, ExportFormat::Csv, Some("rows")).await.unwrap().text;
    let folder = tempfile::tempdir().unwrap();
    let Some(sheet) = opened(&csv, folder.path(), ',') else { return };
    assert!(!sheet.contains("table:formula"), "{sheet}");
    assert_eq!(
        cells(&sheet),
        [
            "name",
            "n",
            "note",
            "Grüße, \"Welt\"",
            "-2.5",
            "two\nlines",
            "'=HYPERLINK(\"http://x.invalid\")",
            "1200",
            "'+1+1",
            "'-1+1",
            "0",
            "'@SUM(A1)",
            "a;'=1+1",
            "3",
            "' =1+1",
        ]
    );
    assert!(sheet.contains("office:value=\"-2.5\"") && sheet.contains("office:value=\"1200\""));
    // Where half of Europe cuts at semicolons nothing runs either.
    let sheet = opened(&csv, folder.path(), ';').unwrap();
    assert!(!sheet.contains("table:formula"), "{sheet}");
}
