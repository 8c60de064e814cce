//! HTTP by hand: the bytes of one request, the bytes of its answer.

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::corpus::Tool;

/// Makes the call and returns status and body.
pub(crate) async fn call(url: &str, token: &str, tool: Tool, arguments: &Value) -> (u16, Value) {
    let mut arguments = arguments.clone();
    let of_path = if tool == Tool::Get {
        arguments.as_object_mut().unwrap().shift_remove("artifactId")
    } else {
        None
    };
    let read = of_path.map(|id| format!("live-artifacts/{}", id.as_str().unwrap()));
    let (method, path) = match tool {
        Tool::Get => ("GET", read.as_deref().unwrap()),
        Tool::Delete => ("POST", "live-artifacts/delete"),
        Tool::Create => ("POST", "live-artifacts/create"),
        Tool::List => ("GET", "live-artifacts/list"),
        Tool::Update => ("POST", "live-artifacts/update"),
        Tool::Refresh => ("POST", "live-artifacts/refresh"),
        Tool::Validate => ("POST", "live-artifacts/validate"),
        Tool::Connectors => ("GET", "connectors/list"),
        Tool::Execute => ("POST", "connectors/execute"),
    };
    let (query, body) = match method {
        "GET" => (query(&arguments), String::new()),
        _ => (String::new(), arguments.to_string()),
    };
    let host = url.strip_prefix("http://").unwrap();
    let request = format!(
        "{method} /api/tools/{path}{query} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(host).await.unwrap();
    // A daemon that refuses by the length alone may answer before it has read everything.
    let _early = stream.write_all(request.as_bytes()).await;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap())
}

fn query(arguments: &Value) -> String {
    let pairs: Vec<String> = arguments
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("{name}={}", text.replace(' ', "+"))
        })
        .collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}
