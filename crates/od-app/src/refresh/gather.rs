//! The sources of a refresh, run beside each other, and the queries over what they gave.

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

use od_core::artifact::{Document, OnFailure, SourceRef};
use od_core::decide::QueryOutput;
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, MappingPath, ProjectId, Timestamp};
use od_core::intake::{CellRef, InputTable, IntakeFault, RowsFault, Table, TableBuilder};
use od_core::json::Value;
use od_core::ledger::kept_commits;
use od_core::limits::{HISTORY_ROWS, INTAKE_REFRESH, SOURCES_AT_ONCE};
use od_core::query::{Query, QueryFault, QueryFaultKind, history_table};
use od_core::refresh::resolve;
use od_ports::query_engine::QueryRun;
use od_ports::store::StoreError;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::app::App;
use crate::connectors::Taken;

/// A future that runs one source.
pub(crate) type Call<'a, E> = Pin<Box<dyn Future<Output = Result<Taken, E>> + Send + 'a>>;

/// One source to run.
pub(crate) struct Planned<'a, E> {
    /// Its id.
    pub(crate) id: String,
    /// The effect of its failure.
    pub(crate) on_failure: OnFailure,
    /// What runs it.
    pub(crate) call: Call<'a, E>,
}

/// One source that ran to its end.
pub(crate) struct Ran<E> {
    /// Its id.
    pub(crate) id: String,
    /// When it ended.
    pub(crate) at: Timestamp,
    /// The effect of its failure.
    pub(crate) on_failure: OnFailure,
    /// What it gave.
    pub(crate) outcome: Result<Taken, E>,
}

/// Runs sources, at most four at once, and returns those that ended in the order of the document. Once
/// one fails that has to succeed, the others are not waited for.
pub(crate) async fn run_sources<E>(app: &App, calls: Vec<Planned<'_, E>>) -> Vec<Ran<E>> {
    let places = Semaphore::new(SOURCES_AT_ONCE.max());
    let mut pending: Vec<Pin<Box<dyn Future<Output = Ran<E>> + Send + '_>>> = Vec::new();
    for Planned { id, on_failure, call } in calls {
        let places = &places;
        pending.push(Box::pin(async move {
            // Nobody closes the semaphore: a place is always had.
            let _place = places.acquire().await;
            let outcome = call.await;
            Ran { id, at: app.ports.clock.now(), on_failure, outcome }
        }));
    }
    let mut ended: Vec<Option<Ran<E>>> = pending.iter().map(|_| None).collect();
    // Polled here and not spawned: the calls borrow the refresh, and dropping this future has to end them
    // all. At most eight are polled for each wake-up.
    std::future::poll_fn(|context| {
        for (future, ended) in pending.iter_mut().zip(&mut ended) {
            if ended.is_none()
                && let Poll::Ready(ran) = future.as_mut().poll(context)
            {
                let is_over = ran.outcome.is_err() && ran.on_failure == OnFailure::Fail;
                *ended = Some(ran);
                if is_over {
                    return Poll::Ready(());
                }
            }
        }
        if ended.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    // Ends the calls that nobody waits for any more, before their outputs are looked at.
    drop(pending);
    ended.into_iter().flatten().collect()
}

/// Returns the bytes of all outputs if they are more than one refresh may read.
pub(crate) fn over_intake<'t>(taken: impl Iterator<Item = &'t Taken>) -> Option<usize> {
    let bytes: usize = taken.map(|taken| taken.intake.json_size()).sum();
    (!INTAKE_REFRESH.allows(bytes)).then_some(bytes)
}

/// A query that gave nothing.
#[derive(Debug, thiserror::Error)]
#[error("query {} (to `{to}`) failed: {fault}", index + 1)]
pub struct QueryRefused {
    /// Its place in the document, from 0.
    pub index: usize,
    /// Where its result goes.
    pub to: MappingPath,
    /// Why.
    pub fault: QueryFault,
    /// The tables it could have read, each with its columns.
    pub tables: Vec<(String, Vec<String>)>,
}

impl QueryRefused {
    /// Lists the tables and columns that there are.
    pub(crate) fn known(&self) -> String {
        let table = |(name, columns): &(String, Vec<String>)| {
            let shown: Vec<&str> = columns.iter().take(30).map(String::as_str).collect();
            let more = if columns.len() > shown.len() { ", …" } else { "" };
            format!("{name}({}{more})", shown.join(", "))
        };
        self.tables.iter().map(table).collect::<Vec<_>>().join("; ")
    }
}

impl From<QueryRefused> for Failure {
    fn from(refused: QueryRefused) -> Self {
        let tables: serde_json::Map<String, Value> =
            refused.tables.iter().map(|(name, columns)| (name.clone(), json!(columns))).collect();
        let suggestion = match &refused.fault.nearest {
            Some(near) => format!("did you mean `{near}`? There is {}", refused.known()),
            None => format!("there is {}", refused.known()),
        };
        let failure = Self::new(ErrorCode::QueryFailed, refused.to_string())
            .suggest(suggestion)
            .detail("query", refused.index)
            .detail("to", refused.to.as_str())
            .detail("kind", refused.fault.kind.as_str())
            .detail("tables", Value::Object(tables));
        let failure = match refused.fault.position {
            Some(at) => failure.detail("line", at.line).detail("column", at.column),
            None => failure,
        };
        match refused.fault.nearest {
            Some(near) => failure.detail("nearest", near),
            None => failure,
        }
    }
}

/// Why no query was answered.
#[derive(Debug, thiserror::Error)]
pub enum QueriesFailed {
    /// One of them failed.
    #[error(transparent)]
    Refused(#[from] QueryRefused),
    /// The tables could not be loaded.
    #[error("the rows of the sources could not be read by queries: {0}")]
    Tables(QueryFault),
    /// The artifact's own history could not be read.
    #[error(transparent)]
    History(#[from] StoreError),
    /// The artifact's own history makes no table.
    #[error("the history of the artifact makes no table: {0}")]
    HistoryRows(IntakeFault),
}

/// Answers every query of a document. One that reads a source that failed and keeps its values keeps
/// its value too; `None` stands for it in the answer of [`each`].
pub(crate) async fn answer(
    app: &App,
    owner: Option<(&ProjectId, &ArtifactId)>,
    document: &Document,
    tables: Vec<InputTable>,
    failed: &[String],
) -> Result<Vec<QueryOutput>, QueriesFailed> {
    let answers = each(app, owner, document, tables, failed).await?;
    let kept = |answer: Option<QueryOutput>| answer.unwrap_or(QueryOutput::Kept);
    answers.into_iter().map(|answer| Ok(kept(answer?))).collect()
}

/// The answers of queries, each for itself; nothing where a source of it has failed.
type Answers = Vec<Result<Option<QueryOutput>, QueryRefused>>;

/// As [`answer`], every query for itself.
pub(crate) async fn each(
    app: &App,
    owner: Option<(&ProjectId, &ArtifactId)>,
    document: &Document,
    mut tables: Vec<InputTable>,
    failed: &[String],
) -> Result<Answers, QueriesFailed> {
    let queries = &document.queries;
    if queries.is_empty() {
        return Ok(Vec::new());
    }
    tables.extend(histories(app, owner, queries).await?);
    let named = |table: &InputTable| (table.name().to_owned(), table.columns().to_vec());
    let known: Vec<(String, Vec<String>)> = tables.iter().map(named).collect();
    let run = QueryRun {
        tables,
        queries: queries.iter().map(|query| query.sql.clone()).collect(),
        refreshed_at: app.ports.clock.now(),
    };
    let results = app.ports.queries.run(run).await.map_err(QueriesFailed::Tables)?;
    let answers = queries.iter().zip(results).enumerate();
    let answers = answers.map(|(index, (query, result))| {
        let value = result.and_then(|set| Ok((set.to_json(query)?, set.tables)));
        match value {
            Ok((value, tables)) => Ok(Some(QueryOutput::Ran { value, tables })),
            // Only a table that is missing is forgiven, and only where the query names a source that
            // failed: anything else is a fault of the query.
            Err(fault)
                if fault.kind == QueryFaultKind::UnknownTable
                    && failed.iter().any(|id| query.sql.mentions(id)) =>
            {
                Ok(None)
            }
            Err(fault) => {
                let tables = known.clone();
                Err(QueryRefused { index, to: query.to.clone(), fault, tables })
            }
        }
    });
    Ok(answers.collect())
}

/// Makes the tables of `history(path)`: the values of a path in the revisions that are kept, oldest
/// first. A value that stayed the same stands once, with the time it came: otherwise a page that shows
/// its own history would never be unchanged.
async fn histories(
    app: &App,
    owner: Option<(&ProjectId, &ArtifactId)>,
    queries: &[Query],
) -> Result<Vec<InputTable>, QueriesFailed> {
    let mut paths: Vec<&MappingPath> = queries.iter().flat_map(|it| it.sql.history()).collect();
    paths.sort();
    paths.dedup();
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let mut states = Vec::new();
    if let Some((project, artifact)) = owner {
        let timeline = app.ports.revisions.timeline(project, artifact).await?;
        let kept = kept_commits(&timeline.commits).take(HISTORY_ROWS.max());
        for commit in kept {
            // One that cannot be read any more has no value to tell of.
            if let Ok(kept) = app.ports.revisions.revision(project, artifact, commit.revision).await
            {
                states.push((commit.at, kept.data));
            }
        }
    }
    states.reverse();
    let table = |path: &&MappingPath| {
        let values =
            states.iter().filter_map(|(at, data)| Some((*at, resolve(data.value(), path)?)));
        let table = history_rows(values).map_err(QueriesFailed::HistoryRows)?;
        Ok(InputTable::of_table(&history_table(path), table))
    };
    paths.iter().map(table).collect()
}

fn history_rows<'v>(
    values: impl Iterator<Item = (Timestamp, &'v Value)>,
) -> Result<Table, IntakeFault> {
    let mut rows = TableBuilder::new(vec!["at".to_owned(), "value".to_owned()])?;
    let mut last = None;
    for (at, value) in values {
        if last == Some(value) {
            continue;
        }
        last = Some(value);
        rows.push(&CellRef::Text(at.to_string().into()))?;
        let cell = match value {
            Value::Null => CellRef::Null,
            Value::Bool(flag) => CellRef::Bool(*flag),
            Value::Number(number) => match number.as_i64() {
                Some(integer) => CellRef::Integer(integer),
                None => CellRef::Real(number.as_f64().unwrap_or_default()),
            },
            Value::String(text) => CellRef::Text(text.as_str().into()),
            Value::Array(_) | Value::Object(_) => CellRef::Text(value.to_string().into()),
        };
        rows.push(&cell)?;
        rows.end_row()?;
    }
    Ok(rows.finish())
}

/// Reads the rows of these sources, as far as they ran, as tables; one whose rows cannot be read has
/// failed.
pub(crate) fn tables<E: From<RowsFault>>(
    sources: &[SourceRef<'_>],
    ran: &mut [Ran<E>],
) -> Vec<InputTable> {
    let mut tables = Vec::new();
    for ran in ran {
        let Some(source) = sources.iter().find(|source| source.id == ran.id) else { continue };
        let Ok(taken) = &ran.outcome else { continue };
        match InputTable::of_source(source.id, &taken.intake, source.rows) {
            Ok(table) => tables.push(table),
            Err(fault) => ran.outcome = Err(fault.into()),
        }
    }
    tables
}

/// Counts the rows of a source, if queries read them.
pub(crate) fn row_count(tables: &[InputTable], id: &str) -> Option<u64> {
    let table = tables.iter().find(|table| table.name() == id)?;
    Some(table.row_count() as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_history_has_each_value_once_until_it_changes() {
        let values = [json!(1), json!(1), json!("x"), json!([2]), json!(1)];
        let at = |i: usize| Timestamp::from_unix_ms(i as i64);
        let table = history_rows(values.iter().enumerate().map(|(i, value)| (at(i), value)));
        let table = table.unwrap();
        let rows: Vec<Value> = (0..table.len()).map(|row| table.cell(row, 1).to_value()).collect();
        assert_eq!(rows, [json!(1), json!("x"), json!("[2]"), json!(1)]);
        assert_eq!(table.cell(1, 0).to_value(), json!("1970-01-01T00:00:00.002Z"));
    }
}
