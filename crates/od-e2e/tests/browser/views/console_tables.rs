//! New live artifact from rows: a person groups, sorts and limits without SQL, and sees the SQL written.

use od_e2e::browser::{Chromium, Tab, serious_findings};

use crate::world::{World, target};

const ORDERS: &str = "Region,Amount (EUR),day\nnorth,10,2026-04-01\nsouth,5,2026-04-02\nnorth,2.5,2026-04-03\nwest,40,2026-04-04\n";
/// Name, width and height of the windows that people have.
const WIDTHS: [(i64, i64); 3] = [(360, 760), (768, 1024), (1280, 800)];

/// Chooses in a select as a person does: by its label and the text of an option.
async fn choose(tab: &Tab, label: &str, option: &str) {
    let found = format!(
        "[...document.querySelectorAll('main label.field')].find((el) => el.firstChild.textContent === '{label}')?.querySelector('select')"
    );
    let text = format!("[...({found}?.options ?? [])].find((it) => it.text === '{option}')");
    tab.until(&text).await;
    tab.run(&format!(
        "(() => {{ const select = {found}; select.value = {text}.value; \
         select.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()"
    ))
    .await;
    tab.until(&format!("{found}?.selectedOptions[0]?.text === '{option}'")).await;
}

fn database(world: &World) {
    world.write("web", "readme.txt", "");
    let connection = rusqlite::Connection::open(world.path("web", "shop.db")).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT NOT NULL); \
             CREATE TABLE orders(id INTEGER PRIMARY KEY, customer TEXT, total REAL); \
             INSERT INTO orders(customer, total) VALUES ('Acme', 10.5), ('Bolt', 99), ('Acme', 4.5)",
        )
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_a_csv_file_are_grouped_without_sql() {
    let world = World::start_in(Chromium::start_with_frames_in_process().await).await;
    world.project("web", &[]).await;
    world.write("web", "orders.csv", ORDERS);
    let tab = world.console("#/new?project=web").await;
    tab.click("input[value='orders.csv']").await;
    tab.sees("4 rows, 3 columns").await;
    tab.until(
        "document.querySelector('.table-form .schema').innerText.includes('Amount (EUR) number')",
    )
    .await;
    tab.until("document.querySelector('pre.sql').innerText.includes('ORDER BY \"Region\"')").await;
    choose(&tab, "Group by", "Region").await;
    choose(&tab, "Show", "Sum").await;
    tab.until(
        "document.querySelector('pre.sql').innerText.includes('sum(\"Amount (EUR)\") AS \"sum_Amount_EUR\"')",
    )
    .await;
    tab.until("document.querySelector('select[name=\"Sort by\"]').selectedOptions[0]?.text === 'Sum of Amount (EUR)'")
        .await;
    tab.run("(() => { const el = document.querySelector('input[name=limit]'); el.value = '2'; el.dispatchEvent(new Event('input', { bubbles: true })); })()").await;
    tab.until("document.querySelector('pre.sql').innerText.endsWith('LIMIT 2')").await;
    tab.click_named("button", "Create live artifact").await;
    tab.until("location.hash.endsWith('/preview') && document.querySelector('.preview-frame')")
        .await;
    tab.shows_preview().await;
    let page = tab.framed(".preview-frame").await;
    // The two largest groups, as a chart and as a table; the third is beyond the limit.
    page.until("document.querySelector('tbody').innerText.replace(/\\s+/g, ' ').startsWith('west 40 north 12.5')").await;
    page.until("document.querySelector('svg') && !document.body.innerText.includes('south')").await;
    tab.press("2").await;
    tab.sees("GROUP BY").await;
    world.write("web", "orders.csv", &format!("{ORDERS}south,100,2026-04-05\n"));
    tab.press("1").await;
    tab.click_named("button", "Refresh").await;
    tab.sees("Refreshed with new data").await;
    // A frame of its own: the one before is replaced some time after the refresh.
    tab.press("2").await;
    tab.until("!document.querySelector('.preview-frame')").await;
    tab.press("1").await;
    tab.shows_preview().await;
    let page = tab.framed(".preview-frame").await;
    page.until("document.querySelector('tbody').innerText.replace(/\\s+/g, ' ').startsWith('south 105 west 40')").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_a_database_becomes_a_page() {
    let world = World::start_in(Chromium::start_with_frames_in_process().await).await;
    world.project("web", &[]).await;
    database(&world);
    let tab = world.console("#/new?project=web&file=shop.db").await;
    choose(&tab, "Table", "orders").await;
    tab.until("document.querySelector('.table-form .schema').innerText.includes('total REAL')")
        .await;
    choose(&tab, "Group by", "customer").await;
    choose(&tab, "Show", "Sum").await;
    choose(&tab, "Of", "total").await;
    tab.sees("FROM \"orders\"").await;
    tab.click_named("button", "Create live artifact").await;
    tab.until("location.hash.endsWith('/preview') && document.querySelector('.preview-frame')")
        .await;
    tab.shows_preview().await;
    let page = tab.framed(".preview-frame").await;
    page.until("document.querySelector('tbody').innerText.replace(/\\s+/g, ' ').startsWith('Bolt 99 Acme 15')").await;
    world.assert_clean(&tab, &[]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_shows_its_tables_among_the_connectors() {
    let world = World::start().await;
    world.project("web", &[]).await;
    database(&world);
    let tab = world.console("#/connectors").await;
    tab.until("document.querySelector('select[name=\"browsed file\"]')?.value === 'shop.db'").await;
    tab.click(".browser button").await;
    tab.until("document.querySelector('.browser .schema')?.innerText.includes('orders')").await;
    tab.until("document.querySelector('.browser summary').innerText === '2 tables'").await;
    tab.click(".browser .schema li:last-child summary").await;
    tab.until("document.querySelector('.browser .schema').innerText.includes('total REAL')").await;
    world.write("web", "shop.db", "this is no database, however long the text is made to be");
    tab.click(".browser button").await;
    tab.until("document.querySelector('.browser .problem')").await;
    world.assert_clean(&tab, &["/files?path=shop.db"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_form_of_rows_fits_every_window_in_both_themes() {
    let world = World::start().await;
    world.project("web", &[]).await;
    world.write("web", "orders.csv", ORDERS);
    database(&world);
    let folder = target("screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    let tab = world.console("#/new?project=web&file=orders.csv").await;
    choose(&tab, "Group by", "Region").await;
    choose(&tab, "Show", "Sum").await;
    for place in ["new-rows", "connectors-sqlite"] {
        if place == "connectors-sqlite" {
            tab.go("#/connectors").await;
            tab.click(".browser button").await;
            tab.until("document.querySelector('.browser .schema')").await;
        }
        for (width, height) in WIDTHS {
            for theme in ["light", "dark"] {
                tab.resize(width, height).await;
                tab.prefer(&[("prefers-color-scheme", theme)]).await;
                tab.settles().await;
                tab.screenshot(&folder.join(format!("{place}-{width}-{theme}.png"))).await;
                let wide = tab.run("document.documentElement.scrollWidth > innerWidth").await;
                assert_eq!(wide, false, "{place} at {width} in {theme} is wider than its window");
                assert_eq!(serious_findings(&tab).await, [""; 0], "{place} at {width} in {theme}");
            }
        }
    }
    world.assert_clean(&tab, &[]);
    world.end().await;
}
