//! The `prometheus` connector: metrics of a registered Prometheus, or of anything with its API.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use od_core::connector::{Category, ServiceKind};
use od_core::ids::Timestamp;
use od_core::intake::{CellRef, Table, TableBuilder};
use od_core::json::{Map, Value};
use od_ports::Clock;
use od_ports::access::credential_vault::Secret;
use od_ports::connector_provider::{
    CatalogEntry, ConnectorAccess, ConnectorProvider, ProviderError, RawOutput, ToolCall,
};
use serde::Deserialize;
use serde_json::json;

use super::client::{Resource, ServiceClient};
use super::http::service_schema;
use crate::catalog::{connector_id, names, read_only};
use crate::formats::FormatFault;

const QUERY: &str = "prometheus.query";
const QUERY_RANGE: &str = "prometheus.query_range";
/// Points of one series that Prometheus gives at most; asking for more is its error.
const POINTS_MAX: u64 = 11_000;
const RANGE_DEFAULT: &str = "24h";
const STEP_DEFAULT: &str = "5m";

/// Gives the results of queries as rows: a column for each label, `at` and `value`.
#[derive(Debug)]
pub struct PrometheusConnector {
    client: Arc<ServiceClient>,
    clock: Arc<dyn Clock>,
}

impl PrometheusConnector {
    /// Makes the connector.
    pub const fn new(client: Arc<ServiceClient>, clock: Arc<dyn Clock>) -> Self {
        Self { client, clock }
    }
}

#[async_trait]
impl ConnectorProvider for PrometheusConnector {
    fn catalog(&self) -> CatalogEntry {
        let query = json!({
            "type": "string", "minLength": 1, "maxLength": 4096, "description": "A PromQL expression.",
        });
        let duration = |what: &str| json!({ "type": "string", "minLength": 2, "maxLength": 8, "description": what });
        let schema = |properties: Value| {
            json!({
                "type": "object", "properties": properties,
                "required": ["source", "query"], "additionalProperties": false,
            })
        };
        let reason = "GET requests to registered addresses only";
        let tools = vec![
            read_only(
                QUERY,
                "Query Prometheus now",
                "The value of every series of a PromQL expression now, as rows of labels, at, value.",
                schema(json!({ "source": service_schema(), "query": query })),
                reason,
            ),
            read_only(
                QUERY_RANGE,
                "Query Prometheus over time",
                "The values of every series of a PromQL expression over the last hours, as rows of labels, at, value.",
                schema(json!({
                    "source": service_schema(), "query": query,
                    "last": duration("How far back, such as 6h or 7d; 24h if left out."),
                    "step": duration("Time between two values, such as 1m; 5m if left out."),
                })),
                reason,
            ),
        ];
        CatalogEntry {
            id: connector_id("prometheus"),
            name: "Prometheus",
            provider: "registered services",
            category: Category::Analytics,
            description: "Metrics of a Prometheus that you registered with `od sources add http`.",
            access: ConnectorAccess::Registered(ServiceKind::Http),
            anonymous_label: None,
            allowed_tool_names: names(&tools.iter().collect::<Vec<_>>()),
            featured_tool_names: names(&[&tools[1]]),
            tools,
        }
    }

    async fn identify(&self, _: &Secret) -> Result<String, ProviderError> {
        Err(ProviderError::CredentialRefused)
    }

    async fn execute(&self, call: ToolCall) -> Result<RawOutput, ProviderError> {
        let text = |key: &str| call.input.get(key).and_then(Value::as_str).unwrap_or_default();
        let mut query = vec![("query".to_owned(), text("query").to_owned())];
        let path = match call.tool.as_str() {
            QUERY => "api/v1/query",
            QUERY_RANGE => {
                query.extend(range(&call.input, self.clock.now())?);
                "api/v1/query_range"
            }
            _ => return Err(ProviderError::UnknownTool { tool: call.tool }),
        };
        let resource =
            Resource { service: text("source"), path, query, accept: "application/json" };
        let fetched = self.client.get(resource).await?;
        let answer: Answer = serde_json::from_slice(&fetched.body).map_err(|err| {
            // The parser's message can quote the body, so it is not passed on.
            let (line, column) = (err.line(), err.column());
            let message = format!("the answer is not Prometheus's (line {line}, column {column})");
            ProviderError::Malformed { message }
        })?;
        let table = answer.data.table().map_err(|fault| fault.of("the answer of Prometheus"))?;
        let summary = Some(format!("{} rows of {}", table.len(), text("source")));
        let metadata = fetched.metadata;
        Ok(RawOutput { output: table.into(), summary, metadata, ..RawOutput::default() })
    }
}

/// Works out the range of a query from the time of the refresh: a page that was made once shows the
/// last day for good, so nobody writes down a start.
fn range(input: &Map, now: Timestamp) -> Result<Vec<(String, String)>, ProviderError> {
    let seconds = |key: &str, default: &str| {
        let text = input.get(key).and_then(Value::as_str).unwrap_or(default);
        let (number, unit) = text.split_at_checked(text.len().saturating_sub(1))?;
        let unit = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            "d" => 86_400,
            "w" => 604_800,
            _ => 0,
        };
        number.parse::<u64>().ok()?.checked_mul(unit).filter(|seconds| *seconds > 0)
    };
    let (last, step) = (seconds("last", RANGE_DEFAULT), seconds("step", STEP_DEFAULT));
    let (Some(last), Some(step)) = (last, step) else {
        let message = "`last` and `step` are a number and s, m, h, d or w".to_owned();
        return Err(ProviderError::Input { pointer: "/last".to_owned(), message });
    };
    if last / step > POINTS_MAX {
        let least = last.div_ceil(POINTS_MAX);
        return Err(ProviderError::Input {
            pointer: "/step".to_owned(),
            message: format!(
                "{} values a series are too many; take a step of {least}s or more",
                last / step
            ),
        });
    }
    let end = now.unix_ms().div_euclid(1000);
    // On the grid of the step: two refreshes within one step ask for the same values.
    let step_signed = i64::try_from(step).unwrap_or(i64::MAX);
    let end = end - end.rem_euclid(step_signed);
    let start = end - i64::try_from(last).unwrap_or(i64::MAX);
    Ok(vec![
        ("start".to_owned(), start.to_string()),
        ("end".to_owned(), end.to_string()),
        ("step".to_owned(), step.to_string()),
    ])
}

#[derive(Debug, Deserialize)]
struct Answer {
    data: Data,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "resultType", content = "result", rename_all = "lowercase")]
enum Data {
    Vector(Vec<Series>),
    Matrix(Vec<Series>),
    Scalar((f64, String)),
    String((f64, String)),
}

#[derive(Debug, Deserialize)]
struct Series {
    #[serde(default)]
    metric: std::collections::BTreeMap<String, String>,
    #[serde(default)]
    value: Option<(f64, String)>,
    #[serde(default)]
    values: Vec<(f64, String)>,
}

impl Data {
    /// Makes a row of every value: its labels in the order of their names, then `at` and `value`.
    fn table(&self) -> Result<Table, FormatFault> {
        let (series, single) = match self {
            Self::Vector(series) | Self::Matrix(series) => (series.as_slice(), None),
            Self::Scalar(value) | Self::String(value) => (&[][..], Some(value)),
        };
        let labels: BTreeSet<&str> =
            series.iter().flat_map(|series| series.metric.keys().map(String::as_str)).collect();
        let mut columns: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        columns.extend(["at".to_owned(), "value".to_owned()]);
        let mut builder = TableBuilder::new(columns)?;
        let mut push = |labels: &[CellRef<'_>], (at, value): &(f64, String)| {
            labels.iter().try_for_each(|cell| builder.push(cell))?;
            let at = Timestamp::from_unix_ms((at * 1000.0).round() as i64).to_string();
            builder.push(&CellRef::Text(at.into()))?;
            // NaN, +Inf and -Inf have no JSON form and draw no point: a gap.
            let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
            builder.push(&number.map_or(CellRef::Null, CellRef::Real))?;
            builder.end_row()
        };
        if let Some(value) = single {
            push(&[], value)?;
        }
        for series in series {
            let cells: Vec<CellRef<'_>> = labels
                .iter()
                .map(|label| match series.metric.get(*label) {
                    Some(text) => CellRef::Text(text.as_str().into()),
                    None => CellRef::Null,
                })
                .collect();
            for value in series.value.iter().chain(&series.values) {
                push(&cells, value)?;
            }
        }
        Ok(builder.finish())
    }
}

#[cfg(test)]
mod tests {
    use od_core::intake::Intake;

    use super::*;

    #[test]
    fn a_matrix_becomes_rows_and_nan_a_gap() {
        let answer: Answer = serde_json::from_value(json!({ "status": "success", "data": {
            "resultType": "matrix", "result": [
                { "metric": { "job": "api" }, "values": [[1_763_366_400, "1"], [1_763_366_460.5, "NaN"]] },
                { "metric": { "instance": "b" }, "values": [[1_763_366_400, "0.25"]] },
            ] } }))
        .unwrap();
        let value = Intake::Table(answer.data.table().unwrap()).to_value();
        assert_eq!(
            value["rows"],
            json!([
                { "instance": null, "job": "api", "at": "2025-11-17T08:00:00.000Z", "value": 1 },
                { "instance": null, "job": "api", "at": "2025-11-17T08:01:00.500Z", "value": null },
                { "instance": "b", "job": null, "at": "2025-11-17T08:00:00.000Z", "value": 0.25 },
            ])
        );
    }

    #[test]
    fn a_range_ends_on_the_grid_of_its_step() {
        let input = |value: Value| value.as_object().cloned().unwrap_or_default();
        let now = Timestamp::from_unix_ms(1_763_366_477_000);
        let pairs = range(&input(json!({ "last": "1h", "step": "1m" })), now).unwrap();
        let texts: Vec<&str> = pairs.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["1763362860", "1763366460", "60"]);
        let many = range(&input(json!({ "last": "52w", "step": "1s" })), now).unwrap_err();
        assert!(many.to_string().contains("a step of"), "{many}");
    }
}
