//! An engine that knows one statement.

use async_trait::async_trait;
use od_core::error::nearest_name;
use od_core::intake::{CellRef, InputTable};
use od_core::limits::QUERY_ROWS;
use od_core::query::{QueryFault, QueryFaultKind, ResultSet, SqlText, SqlValue};

use crate::query_engine::{QueryEngine, QueryResults, QueryRun};

/// Answers `SELECT * FROM table` and refuses all else, for tests of what happens around a query.
#[derive(Clone, Copy, Debug, Default)]
pub struct EchoQueryEngine;

#[async_trait]
impl QueryEngine for EchoQueryEngine {
    async fn run(&self, run: QueryRun) -> Result<QueryResults, QueryFault> {
        Ok(run.queries.iter().map(|sql| answer(&run.tables, sql)).collect())
    }
}

fn answer(tables: &[InputTable], sql: &SqlText) -> Result<ResultSet, QueryFault> {
    let words: Vec<&str> = sql.executable().split_whitespace().collect();
    let name = match words.as_slice() {
        [select, "*", from, name]
            if select.eq_ignore_ascii_case("select") && from.eq_ignore_ascii_case("from") =>
        {
            name.trim_matches('"')
        }
        _ => {
            let message = "this engine knows `SELECT * FROM table` alone";
            return Err(QueryFault::new(QueryFaultKind::Refused, message));
        }
    };
    let Some(table) = tables.iter().find(|table| table.name() == name) else {
        let nearest = nearest_name(name, tables.iter().map(InputTable::name));
        return Err(QueryFault {
            nearest: nearest.map(str::to_owned),
            ..QueryFault::new(QueryFaultKind::UnknownTable, format!("no such table: {name}"))
        });
    };
    let mut rows = Vec::new();
    table.for_each_row(|cells| {
        if !QUERY_ROWS.allows(rows.len() + 1) {
            let message = format!("the result has more than {} rows", QUERY_ROWS.allowed);
            return Err(QueryFault::new(QueryFaultKind::TooManyRows, message));
        }
        rows.push(cells.iter().map(sql_value).collect());
        Ok(())
    })?;
    let (columns, tables) = (table.columns().to_vec(), vec![name.to_owned()]);
    Ok(ResultSet { columns, rows, tables })
}

fn sql_value(cell: &CellRef<'_>) -> SqlValue {
    match cell {
        CellRef::Null => SqlValue::Null,
        CellRef::Bool(bool) => SqlValue::Integer(i64::from(*bool)),
        CellRef::Integer(integer) => SqlValue::Integer(*integer),
        CellRef::Real(real) => SqlValue::Real(*real),
        CellRef::Text(text) => SqlValue::Text(text.clone().into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::check_query_engine;

    #[tokio::test]
    async fn it_keeps_the_contract() {
        check_query_engine(&EchoQueryEngine).await;
    }
}
