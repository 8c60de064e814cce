//! `od sources …`

use od_app::{Caller, services};
use od_core::connector::{
    BaseUrl, ConnectionString, ConnectionStringError, DatabaseTable, RegisteredService,
    SecretHeader, ServiceKind, ServiceName, ServiceRequest,
};
use od_core::error::ErrorCode;
use od_ports::access::credential_vault::Secret;
use od_wire::service::{AddService, ServiceAnswer, ServicesAnswer, TestService};
use serde_json::json;

use crate::args::{AddSource, SourceArgs, TestSource};
use crate::local;
use crate::output::{Answer, CommandError, Exit, Sink, Style, Text, with_progress};
use crate::settings::Settings;
use crate::verbs::daemon;
use crate::verbs::projects::connectors::read_secret;

/// Said where a connection string is missing or is none.
const CONNECTION_EXAMPLE: &str =
    "type it at the terminal or give it on stdin: postgresql://USER:PASSWORD@HOST:5432/DATABASE";

/// Tables that `od sources test` names.
const TABLES_TOLD: usize = 20;

/// Registers a service over HTTP, asking for the secret of its header.
pub(crate) async fn add_http(
    settings: &Settings,
    args: &AddSource,
) -> Result<Answer, CommandError> {
    let name = service_name(&args.name)?;
    let url: BaseUrl = args.url.parse().map_err(|error| {
        usage(
            format!("`{}`: {error}", args.url),
            "copy the address from the service's documentation",
        )
    })?;
    let header = args.header.as_deref().map(str::parse::<SecretHeader>).transpose();
    let header =
        header.map_err(|error| usage(error.to_string(), "see the service's documentation"))?;
    if args.dry_run {
        let text = format!("Would register {name} at {url}.");
        let json =
            json!({ "dryRun": true, "service": { "name": name, "url": url, "header": header } });
        return Ok(Answer::new(json, Text::new().line(&text)));
    }
    // Never from an argument: other users see those in the process list, and shells keep them.
    let secret = match &header {
        Some(header) => read_secret(&format!("secret for {} (not shown)", header.name()))?,
        None => None,
    };
    let kind = Some(ServiceKind::Http);
    register(settings, AddService { name, kind, url: Some(url), header, secret }).await
}

/// Registers a database, asking for its connection string.
pub(crate) async fn add_postgres(
    settings: &Settings,
    args: &SourceArgs,
) -> Result<Answer, CommandError> {
    let name = service_name(&args.name)?;
    if args.dry_run {
        let text = format!("Would ask for a connection string and register {name}.");
        let json =
            json!({ "dryRun": true, "service": { "name": name, "kind": ServiceKind::Postgres } });
        return Ok(Answer::new(json, Text::new().line(&text)));
    }
    let Some(secret) = read_secret("connection string (not shown)")? else {
        return Err(usage("no connection string was given".to_owned(), CONNECTION_EXAMPLE));
    };
    // Before anything is sent: a mistyped one is told without a daemon.
    secret
        .parse::<ConnectionString>()
        .map_err(|error: ConnectionStringError| usage(error.to_string(), CONNECTION_EXAMPLE))?;
    let kind = Some(ServiceKind::Postgres);
    let body = AddService { name, kind, url: None, header: None, secret: Some(secret) };
    register(settings, body).await
}

/// Registers a service with the daemon, or without one in the home itself.
async fn register(settings: &Settings, body: AddService) -> Result<Answer, CommandError> {
    let name = body.name.clone();
    let answer = match daemon::running(settings).await {
        Some(daemon) => {
            let client = daemon::person_client(settings, &daemon)?;
            client.add_service(&body).await?
        }
        None => {
            let app = local::open(settings)?;
            let AddService { name, kind, url, header, secret } = body;
            let secret = secret.as_deref().map(Secret::parse).transpose().map_err(|error| {
                usage(error.to_string(), "paste the secret alone, without spaces or line breaks")
            })?;
            let kind = kind.unwrap_or(ServiceKind::Http);
            let request = services::AddService { name, kind, url, header, secret };
            let service = services::add(&app, &Caller::Person, request).await;
            told(service.map_err(local::failed)?)
        }
    };
    let try_it = match answer.service.url.kind() {
        ServiceKind::Http => format!("Try it: `od sources test {name} --path PATH`."),
        ServiceKind::Postgres => format!("Try it: `od sources test {name}`."),
    };
    let text = Text::new()
        .pieces(&[
            (Style::Good, "Registered "),
            (Style::Bold, name.as_str()),
            (Style::Plain, &format!(" at {}", answer.service.url)),
        ])
        .styled(Style::Dim, &try_it);
    Ok(Answer::of(&answer, text))
}

fn told(service: RegisteredService) -> ServiceAnswer {
    ServiceAnswer { service, answered: None, tables: Vec::new() }
}

fn service_name(text: &str) -> Result<ServiceName, CommandError> {
    text.parse().map_err(|error| {
        usage(format!("`{text}`: {error}"), "choose a short name, such as `weather`")
    })
}

fn usage(problem: String, fix: &str) -> CommandError {
    CommandError::new(ErrorCode::BadRequest, problem).suggest(fix).ending(Exit::Usage)
}

/// Lists the registered services.
pub(crate) async fn list(settings: &Settings) -> Result<Answer, CommandError> {
    let (services, requests) = match local::open_existing(settings)? {
        Some(app) => (
            services::list(&app).await.map_err(local::failed)?,
            services::requests(&app).await.map_err(local::failed)?,
        ),
        None => Default::default(),
    };
    let mut text = Text::new();
    if services.is_empty() {
        text = text.line("No service is registered. `od sources add http NAME URL` or `od sources add postgres NAME` adds one.");
    }
    for RegisteredService { name, url, header, .. } in &services {
        let with = header.as_ref().map(|header| format!("  (secret in {})", header.name()));
        text = text.pieces(&[
            (Style::Bold, &format!("{:<16} ", name.as_str())),
            (Style::Plain, &url.to_string()),
            (Style::Dim, &with.unwrap_or_default()),
        ]);
    }
    if !requests.is_empty() {
        text = text.line("").line("Agents asked for these; nobody has registered them:");
    }
    for ServiceRequest { name, kind, project_id, .. } in &requests {
        let how = match kind {
            ServiceKind::Http => format!("od sources add http {name} URL"),
            ServiceKind::Postgres => format!("od sources add postgres {name}"),
        };
        text = text.pieces(&[
            (Style::Bold, &format!("{:<16} ", name.as_str())),
            (Style::Plain, &how),
            (Style::Dim, &format!("  (project {project_id})")),
        ]);
    }
    Ok(Answer::of(&ServicesAnswer { services, requests }, text))
}

/// Asks a service for one resource.
pub(crate) async fn test(
    settings: &Settings,
    args: &TestSource,
    sink: Sink,
) -> Result<Answer, CommandError> {
    let ask = async {
        match daemon::running(settings).await {
            Some(daemon) => {
                let client = daemon::person_client(settings, &daemon)?;
                let body = TestService { path: args.path.clone() };
                Ok(client.test_service(&args.name, &body).await?)
            }
            None => {
                let app = local::open(settings)?;
                let request =
                    services::TestService { name: args.name.clone(), path: args.path.clone() };
                let tested = services::test(&app, &Caller::Person, request).await;
                let tested = tested.map_err(local::failed)?;
                Ok(ServiceAnswer {
                    service: tested.service,
                    answered: Some(tested.summary),
                    tables: tested.tables,
                })
            }
        }
    };
    let answer: Result<ServiceAnswer, CommandError> =
        with_progress(sink, &format!("asking {}", args.name), ask).await;
    let answer = answer?;
    let told = answer.answered.as_deref().unwrap_or_default();
    let mut text = Text::new().pieces(&[(Style::Good, "It answers: "), (Style::Plain, told)]);
    for DatabaseTable { schema, name, columns, .. } in answer.tables.iter().take(TABLES_TOLD) {
        let columns: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        text = text.pieces(&[
            (Style::Bold, &format!("{schema}.{name}")),
            (Style::Dim, &format!("  {}", columns.join(", "))),
        ]);
    }
    if answer.tables.len() > TABLES_TOLD {
        text = text.styled(Style::Dim, &format!("and {} more", answer.tables.len() - TABLES_TOLD));
    }
    Ok(Answer::of(&answer, text))
}

/// Removes a service and forgets its secret.
pub(crate) async fn remove(settings: &Settings, args: &SourceArgs) -> Result<Answer, CommandError> {
    if args.dry_run {
        let Some(app) = local::open_existing(settings)? else {
            return Err(local::nothing_stored(&settings.data_dir));
        };
        services::find(&app, &args.name).await.map_err(local::failed)?;
        return Ok(Answer::would_remove(&args.name));
    }
    let answer = match daemon::running(settings).await {
        Some(daemon) => {
            let client = daemon::person_client(settings, &daemon)?;
            client.remove_service(&args.name).await?
        }
        None => {
            let app = local::open(settings)?;
            let service = services::remove(&app, &Caller::Person, &args.name).await;
            told(service.map_err(local::failed)?)
        }
    };
    let text = Text::new()
        .pieces(&[(Style::Good, "Removed "), (Style::Bold, &args.name)])
        .styled(Style::Dim, "Artifacts that read it keep their last data.");
    Ok(Answer::of(&answer, text))
}
