//! From the rows of a result to JSON.

use super::fault::{QueryFault, QueryFaultKind};
use super::plan::{Query, Shape};
use crate::error::nearest_name;
use crate::intake::{JsonText, number_value, real_value};
use crate::json::{Map, Value};

/// One value of a result.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    /// Nothing.
    Null,
    /// A whole number; truth values are 0 and 1.
    Integer(i64),
    /// A double.
    Real(f64),
    /// A text.
    Text(String),
    /// Bytes, which JSON does not have.
    Blob,
}

/// The rows of a result, at most as many as a query may give.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultSet {
    /// The names of the columns, as the statement gives them.
    pub columns: Vec<String>,
    /// Each row has as many values as there are columns.
    pub rows: Vec<Vec<SqlValue>>,
    /// The tables that were read, each once, by name.
    pub tables: Vec<String>,
}

impl ResultSet {
    /// Turns the rows into the JSON that a query asks for.
    ///
    /// Integers beyond ±(2^53 − 1) become texts, infinities null, and the columns of `json` the values
    /// their text stands for.
    ///
    /// # Errors
    ///
    /// Fails if the result has another form than the shape, if a column has no usable name, or if a
    /// value has no JSON form.
    pub fn to_json(&self, query: &Query) -> Result<Value, QueryFault> {
        self.check_json_columns(query)?;
        match query.shape {
            Shape::Rows => {
                self.check_names()?;
                self.rows.iter().map(|row| self.object(row, query)).collect()
            }
            Shape::Row => {
                self.check_names()?;
                self.at_most_one(Shape::Row)?;
                self.rows.first().map_or(Ok(Value::Null), |row| self.object(row, query))
            }
            Shape::Value => {
                self.one_column(Shape::Value)?;
                self.at_most_one(Shape::Value)?;
                self.rows.first().map_or(Ok(Value::Null), |row| self.value(row, 0, query))
            }
            Shape::Column => {
                self.one_column(Shape::Column)?;
                self.rows.iter().map(|row| self.value(row, 0, query)).collect()
            }
        }
    }

    fn object(&self, row: &[SqlValue], query: &Query) -> Result<Value, QueryFault> {
        let mut map = Map::new();
        for (at, column) in self.columns.iter().enumerate() {
            map.insert(column.clone(), self.value(row, at, query)?);
        }
        Ok(Value::Object(map))
    }

    fn value(&self, row: &[SqlValue], at: usize, query: &Query) -> Result<Value, QueryFault> {
        let column = self.columns.get(at).map_or("", String::as_str);
        let is_json = query.json.iter().any(|name| name == column);
        match row.get(at) {
            None | Some(SqlValue::Null) => Ok(Value::Null),
            Some(SqlValue::Integer(integer)) => Ok(number_value(*integer)),
            Some(SqlValue::Real(real)) => Ok(real_value(*real)),
            Some(SqlValue::Text(text)) if is_json => {
                let parsed = JsonText::parse(text.as_bytes()).map_err(|fault| {
                    QueryFault::new(
                        QueryFaultKind::BadValue,
                        format!(
                            "the column `{column}` of `json` holds a text that is not JSON: {fault}"
                        ),
                    )
                })?;
                Ok(parsed.root().to_value())
            }
            Some(SqlValue::Text(text)) => Ok(Value::String(text.clone())),
            Some(SqlValue::Blob) => Err(QueryFault::new(
                QueryFaultKind::BadValue,
                format!(
                    "the column `{column}` holds bytes; hex() or CAST(… AS TEXT) makes text of them"
                ),
            )),
        }
    }

    fn check_json_columns(&self, query: &Query) -> Result<(), QueryFault> {
        match query.json.iter().find(|name| !self.columns.contains(name)) {
            None => Ok(()),
            Some(missing) => {
                let nearest = nearest_name(missing, self.columns.iter().map(String::as_str));
                Err(QueryFault {
                    nearest: nearest.map(str::to_owned),
                    ..QueryFault::new(
                        QueryFaultKind::WrongShape,
                        format!(
                            "`json` names the column `{missing}`, which the result does not have; it has {}",
                            self.columns.join(", ")
                        ),
                    )
                })
            }
        }
    }

    /// Refuses columns that no binding could name.
    fn check_names(&self) -> Result<(), QueryFault> {
        for (at, name) in self.columns.iter().enumerate() {
            let is_usable = !name.is_empty()
                && name
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'@'));
            if !is_usable {
                return Err(QueryFault::new(
                    QueryFaultKind::WrongShape,
                    format!(
                        "column {} has the name `{}`, which no template can bind; name it with AS, in letters, digits, `_` and `-`",
                        at + 1,
                        name.chars().take(40).collect::<String>()
                    ),
                ));
            }
            if self.columns[..at].contains(name) {
                return Err(QueryFault::new(
                    QueryFaultKind::WrongShape,
                    format!("two columns have the name `{name}`; name one of them with AS"),
                ));
            }
        }
        Ok(())
    }

    fn one_column(&self, shape: Shape) -> Result<(), QueryFault> {
        if self.columns.len() == 1 {
            return Ok(());
        }
        Err(QueryFault::new(
            QueryFaultKind::WrongShape,
            format!("the shape `{shape}` takes one column, the result has {}", self.columns.len()),
        ))
    }

    fn at_most_one(&self, shape: Shape) -> Result<(), QueryFault> {
        if self.rows.len() <= 1 {
            return Ok(());
        }
        Err(QueryFault::new(
            QueryFaultKind::WrongShape,
            format!(
                "the shape `{shape}` takes one row, the result has {}; add ORDER BY and LIMIT 1",
                self.rows.len()
            ),
        ))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn query(shape: Shape, json: &[&str]) -> Query {
        Query {
            to: "x".parse().unwrap(),
            sql: "select 1".parse().unwrap(),
            shape,
            json: json.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    fn result(columns: &[&str], rows: Vec<Vec<SqlValue>>) -> ResultSet {
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        ResultSet { columns, rows, tables: Vec::new() }
    }

    #[test]
    fn each_shape_has_its_form() {
        let two = result(
            &["a", "b"],
            vec![
                vec![SqlValue::Integer(1), SqlValue::Text("x".to_owned())],
                vec![SqlValue::Null, SqlValue::Real(0.5)],
            ],
        );
        assert_eq!(
            two.to_json(&query(Shape::Rows, &[])).unwrap(),
            json!([{ "a": 1, "b": "x" }, { "a": null, "b": 0.5 }])
        );
        for shape in [Shape::Row, Shape::Value, Shape::Column] {
            let fault = two.to_json(&query(shape, &[])).unwrap_err();
            assert_eq!(fault.kind, QueryFaultKind::WrongShape, "{shape}");
        }
        let one = result(&["n"], vec![vec![SqlValue::Integer(7)]]);
        assert_eq!(one.to_json(&query(Shape::Row, &[])).unwrap(), json!({ "n": 7 }));
        assert_eq!(one.to_json(&query(Shape::Value, &[])).unwrap(), json!(7));
        assert_eq!(one.to_json(&query(Shape::Column, &[])).unwrap(), json!([7]));
        let none = result(&["n"], Vec::new());
        assert_eq!(none.to_json(&query(Shape::Rows, &[])).unwrap(), json!([]));
        assert_eq!(none.to_json(&query(Shape::Row, &[])).unwrap(), Value::Null);
        assert_eq!(none.to_json(&query(Shape::Value, &[])).unwrap(), Value::Null);
        assert_eq!(none.to_json(&query(Shape::Column, &[])).unwrap(), json!([]));
    }

    #[test]
    fn values_are_exact_or_texts() {
        let rows = [
            SqlValue::Integer(i64::MIN),
            SqlValue::Integer(9_007_199_254_740_991),
            SqlValue::Real(1e17),
            SqlValue::Real(f64::NEG_INFINITY),
            SqlValue::Real(-0.0),
        ];
        let result = result(&["n"], rows.into_iter().map(|value| vec![value]).collect());
        assert_eq!(
            result.to_json(&query(Shape::Column, &[])).unwrap(),
            json!([
                "-9223372036854775808",
                9_007_199_254_740_991i64,
                "100000000000000000",
                null,
                0
            ])
        );
    }

    #[test]
    fn json_columns_are_parsed_and_must_be_json() {
        let text = |text: &str| vec![SqlValue::Text(text.to_owned())];
        let good = result(&["j"], vec![text("{\"a\":[true]}"), vec![SqlValue::Null]]);
        assert_eq!(
            good.to_json(&query(Shape::Column, &["j"])).unwrap(),
            json!([{ "a": [true] }, null])
        );
        let bad = result(&["j"], vec![text("{a}")]);
        assert_eq!(
            bad.to_json(&query(Shape::Column, &["j"])).unwrap_err().kind,
            QueryFaultKind::BadValue
        );
        let fault = good.to_json(&query(Shape::Column, &["jj"])).unwrap_err();
        assert_eq!((fault.kind, fault.nearest.as_deref()), (QueryFaultKind::WrongShape, Some("j")));
    }

    #[test]
    fn names_that_no_template_can_bind_are_refused() {
        for columns in [&["count(*)"][..], &["a", "a"], &[""], &["a b"]] {
            let rows = vec![vec![SqlValue::Null; columns.len()]];
            let fault = result(columns, rows).to_json(&query(Shape::Rows, &[])).unwrap_err();
            assert!(fault.message.contains("AS"), "{fault}");
        }
        let count = result(&["count(*)"], vec![vec![SqlValue::Integer(3)]]);
        assert_eq!(count.to_json(&query(Shape::Value, &[])).unwrap(), json!(3));
        let blob = result(&["b"], vec![vec![SqlValue::Blob]]);
        assert_eq!(
            blob.to_json(&query(Shape::Value, &[])).unwrap_err().kind,
            QueryFaultKind::BadValue
        );
    }
}
