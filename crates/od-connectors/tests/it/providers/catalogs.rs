//! Every catalog at once.

use std::path::PathBuf;
use std::sync::Arc;

use od_connectors::{
    Fence, Git, GitHub, GitHubConfig, HttpConnector, ProjectFilesConnector, PrometheusConnector,
    ServiceClient,
};
use od_core::connector::LocalTool;
use od_ports::connector_provider::{ConnectorAccess, ConnectorProvider};
use od_ports::fakes::{MemoryServiceRegistry, MemoryVault};

use crate::scene::{OneRoot, clock};

pub(crate) fn all() -> Vec<Arc<dyn ConnectorProvider>> {
    let files = Arc::new(OneRoot(PathBuf::from("/nonexistent")));
    let fence = Fence::around([]);
    let registry = Arc::new(MemoryServiceRegistry::default());
    let vault = Arc::new(MemoryVault::default());
    let client = Arc::new(ServiceClient::new(registry.clone(), vault.clone()));
    let config = GitHubConfig::new(GitHubConfig::DEFAULT_BASE_URL).unwrap();
    vec![
        Arc::new(ProjectFilesConnector::new(files.clone(), fence.clone())),
        Arc::new(Git::new(files.clone(), fence)),
        Arc::new(od_sql::SqliteConnector::new(files)),
        Arc::new(GitHub::new(config, clock())),
        Arc::new(HttpConnector::new(Arc::clone(&client))),
        Arc::new(PrometheusConnector::new(client, clock())),
        Arc::new(od_sql::PostgresConnector::new(registry, vault)),
    ]
}

#[test]
fn every_tool_is_qualified_allowed_and_read_only_by_its_own_words() {
    let mut tools = 0;
    for provider in all() {
        let catalog = provider.catalog();
        for tool in &catalog.tools {
            tools += 1;
            let prefix = format!("{}.", catalog.id);
            assert!(tool.name.as_str().starts_with(&prefix), "{}", tool.name);
            assert!(catalog.allowed_tool_names.contains(&tool.name), "{}", tool.name);
            assert!(tool.safety.runs(), "{}: {}", tool.name, tool.safety.reason);
        }
        for name in &catalog.featured_tool_names {
            assert!(catalog.allowed_tool_names.contains(name), "{name}");
        }
    }
    assert_eq!(tools, 27);
}

#[test]
fn the_tools_of_this_machine_are_the_ones_the_core_names() {
    let mut named: Vec<&str> = LocalTool::ALL.iter().map(|tool| tool.as_str()).collect();
    let catalogs: Vec<_> = all().iter().map(|provider| provider.catalog()).collect();
    let mut found: Vec<&str> = catalogs
        .iter()
        .filter(|catalog| catalog.access == ConnectorAccess::Local)
        .flat_map(|catalog| catalog.tools.iter().map(|tool| tool.name.as_str()))
        .collect();
    named.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, named);
}
