//! `od webhooks …`: where changed checks are told to other programs.

use od_app::{Caller, notifications};
use od_core::connector::ServiceName;
use od_core::error::ErrorCode;
use od_core::notification::{Deliveries, Reach, Webhook, WebhookUrl};
use od_ports::access::credential_vault::Secret;
use od_wire::webhook::{AddWebhook, WebhookAnswer, WebhooksAnswer};
use serde_json::json;

use crate::args::{AddWebhookArgs, SourceArgs, WebhooksCommand};
use crate::local;
use crate::output::{Answer, CommandError, Exit, Sink, Style, Text, with_progress};
use crate::settings::Settings;
use crate::verbs::daemon;
use crate::verbs::projects::connectors::read_secret;

/// Runs one of them.
pub(crate) async fn webhooks(
    settings: &Settings,
    command: WebhooksCommand,
    sink: Sink,
) -> Result<Answer, CommandError> {
    match command {
        WebhooksCommand::Add(args) => add(settings, &args).await,
        WebhooksCommand::List => list(settings).await,
        WebhooksCommand::Test { name } => test(settings, &name, sink).await,
        WebhooksCommand::Remove(args) => remove(settings, &args).await,
    }
}

/// Registers a webhook, asking for the secret that signs.
async fn add(settings: &Settings, args: &AddWebhookArgs) -> Result<Answer, CommandError> {
    let name: ServiceName = args.name.parse().map_err(|error| {
        usage(format!("`{}`: {error}", args.name), "choose a short name, such as `pager`")
    })?;
    let url: WebhookUrl = args.url.parse().map_err(|error| {
        usage(
            format!("`{}`: {error}", args.url),
            "give an address such as https://hooks.example.com/od",
        )
    })?;
    if args.dry_run {
        let text = format!("Would register webhook {name} at {url}.");
        let reach = url.reach(args.private);
        let json =
            json!({ "dryRun": true, "webhook": { "name": name, "url": url, "reach": reach } });
        return Ok(Answer::new(json, Text::new().line(&text)));
    }
    // Never from an argument: other users see those in the process list, and shells keep them.
    let Some(secret) = read_secret("secret that signs what is sent (not shown)")? else {
        return Err(usage(
            "no secret was given".to_owned(),
            "type one, or give it on stdin: openssl rand -hex 32 | tee secret.txt | od webhooks add NAME URL",
        ));
    };
    let answer = match daemon::running(settings).await {
        Some(daemon) => {
            let client = daemon::person_client(settings, &daemon)?;
            client.add_webhook(&AddWebhook { name, url, private: args.private, secret }).await?
        }
        None => {
            let app = local::open(settings)?;
            let secret = Secret::parse(&secret).map_err(|error| {
                usage(error.to_string(), "paste the secret alone, without spaces or line breaks")
            })?;
            let private = args.private;
            let request = notifications::AddWebhook { name, url, private, secret: Some(secret) };
            let added = notifications::add(&app, &Caller::Person, request).await;
            told(added.map_err(local::failed)?)
        }
    };
    let Webhook { name, url, .. } = &answer.webhook;
    let text = Text::new()
        .pieces(&[
            (Style::Good, "Registered "),
            (Style::Bold, name.as_str()),
            (Style::Plain, &format!(" at {url}")),
        ])
        .styled(Style::Dim, &format!("Try it: `od webhooks test {name}`."));
    Ok(Answer::of(&answer, text))
}

fn told(webhook: Webhook) -> WebhookAnswer {
    WebhookAnswer { webhook, answered: None }
}

fn usage(problem: String, fix: &str) -> CommandError {
    CommandError::new(ErrorCode::BadRequest, problem).suggest(fix).ending(Exit::Usage)
}

/// Lists the webhooks, and how their deliveries went.
async fn list(settings: &Settings) -> Result<Answer, CommandError> {
    let webhooks = match local::open_existing(settings)? {
        Some(app) => notifications::list(&app).await.map_err(local::failed)?,
        None => Vec::new(),
    };
    let mut text = Text::new();
    if webhooks.is_empty() {
        text = text.line("No webhook is registered. `od webhooks add NAME URL` adds one.");
    }
    for Webhook { name, url, reach, deliveries, .. } in &webhooks {
        let reach = match reach {
            Reach::Public | Reach::Loopback => "",
            Reach::Private => "  (private networks allowed)",
        };
        text = text.pieces(&[
            (Style::Bold, &format!("{:<16} ", name.as_str())),
            (Style::Plain, &url.to_string()),
            (Style::Dim, reach),
        ]);
        let (style, line) = state(deliveries);
        text = text.pieces(&[(Style::Plain, "                 "), (style, &line)]);
    }
    Ok(Answer::of(&WebhooksAnswer { webhooks }, text))
}

/// Says how the deliveries of a webhook went.
fn state(deliveries: &Deliveries) -> (Style, String) {
    let Deliveries { delivered_at, lost, .. } = deliveries;
    let before = delivered_at.map(|at| format!("; the last one arrived {at}"));
    match (deliveries.fault(), delivered_at) {
        (Some(fault), _) => {
            (Style::Bad, format!("{lost} lost: {fault}{}", before.unwrap_or_default()))
        }
        (None, Some(at)) => (Style::Good, format!("the last one arrived {at}")),
        (None, None) => (Style::Dim, "nothing was sent yet".to_owned()),
    }
}

/// Sends a webhook a notification that says it is a test.
async fn test(settings: &Settings, name: &str, sink: Sink) -> Result<Answer, CommandError> {
    let ask = async {
        match daemon::running(settings).await {
            Some(daemon) => {
                let client = daemon::person_client(settings, &daemon)?;
                Ok(client.test_webhook(name).await?)
            }
            None => {
                let app = local::open(settings)?;
                let tested = notifications::test(&app, &Caller::Person, name).await;
                let tested = tested.map_err(local::failed)?;
                Ok(WebhookAnswer { webhook: tested.webhook, answered: Some(tested.status) })
            }
        }
    };
    let answer: Result<WebhookAnswer, CommandError> =
        with_progress(sink, &format!("sending a test to {name}"), ask).await;
    let answer = answer?;
    let status = answer.answered.unwrap_or_default();
    let text = Text::new()
        .pieces(&[(Style::Good, "It took the test"), (Style::Dim, &format!(" ({status})"))]);
    Ok(Answer::of(&answer, text))
}

/// Removes a webhook and forgets its secret.
async fn remove(settings: &Settings, args: &SourceArgs) -> Result<Answer, CommandError> {
    if args.dry_run {
        let Some(app) = local::open_existing(settings)? else {
            return Err(local::nothing_stored(&settings.data_dir));
        };
        notifications::find(&app, &args.name).await.map_err(local::failed)?;
        return Ok(Answer::would_remove(&args.name));
    }
    let answer = match daemon::running(settings).await {
        Some(daemon) => {
            let client = daemon::person_client(settings, &daemon)?;
            client.remove_webhook(&args.name).await?
        }
        None => {
            let app = local::open(settings)?;
            let removed = notifications::remove(&app, &Caller::Person, &args.name).await;
            told(removed.map_err(local::failed)?)
        }
    };
    let text = Text::new().pieces(&[(Style::Good, "Removed "), (Style::Bold, &args.name)]);
    Ok(Answer::of(&answer, text))
}
