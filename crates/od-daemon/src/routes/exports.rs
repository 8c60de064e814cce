//! Files made of an artifact, for the person.

use od_app::artifacts::{self, ExportArtifact};
use od_core::error::{ErrorCode, Failure, Issue};
use od_core::export::ExportFormat;
use od_wire::export::ExportAnswer;
use od_wire::route::QueryName;

use crate::exchange::Exchange;
use crate::http::reply::Reply;

/// Makes a file and answers with it.
pub(crate) async fn show(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let request = ExportArtifact {
        address: exchange.address()?,
        format: format(exchange)?,
        table: exchange.query.text(QueryName::Table).map(str::to_owned),
    };
    let file = artifacts::export(&exchange.daemon.app, &exchange.person(), request).await?;
    Ok(Reply::json(&ExportAnswer { export: file.into() }))
}

fn format(exchange: &Exchange<'_>) -> Result<ExportFormat, Failure> {
    let Some(word) = exchange.query.text(QueryName::Format) else { return Ok(ExportFormat::Html) };
    ExportFormat::from_word(word).ok_or_else(|| {
        let words: Vec<&str> = ExportFormat::ALL.iter().map(|format| format.as_str()).collect();
        let issue = Issue::new("/format", "unknown_word", "there is no such form")
            .got(word)
            .want(words.join(", "));
        Failure::validation(ErrorCode::BadRequest, &[issue])
    })
}
