//! Lookup: from method and path to a line of the route table.

use hyper::Method as HttpMethod;
use matchit::Router;
use od_wire::route::{Method, ROUTES, Route};

/// The route table, arranged for lookup.
#[derive(Clone)]
pub(crate) struct RouteIndex {
    paths: Router<Vec<&'static Route>>,
}

impl std::fmt::Debug for RouteIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RouteIndex").finish_non_exhaustive()
    }
}

/// The table's answer about a method and a path.
#[derive(Debug)]
pub(crate) enum Lookup<'p> {
    /// One route takes it.
    Found(&'static Route, PathParameters<'p>),
    /// The path is known, the method is not taken there.
    WrongMethod(Vec<Method>),
    /// No route has this path.
    Missing,
}

/// The parameters of a path, in the order of the route's pattern, not decoded: every id has an
/// alphabet that needs no encoding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathParameters<'p> {
    values: [&'p str; 2],
}

impl<'p> PathParameters<'p> {
    /// Returns the first parameter, or nothing if the route has none.
    pub(crate) const fn first(&self) -> &'p str {
        self.values[0]
    }

    /// Returns the second parameter, or nothing if the route has fewer.
    pub(crate) const fn second(&self) -> &'p str {
        self.values[1]
    }
}

impl RouteIndex {
    /// Arranges the table. Fails only if two patterns of the table contradict each other.
    pub(crate) fn new() -> Result<Self, matchit::InsertError> {
        let mut by_path: Vec<(&'static str, Vec<&'static Route>)> = Vec::new();
        for route in ROUTES {
            match by_path.iter_mut().find(|(path, _)| *path == route.path) {
                Some((_, routes)) => routes.push(route),
                None => by_path.push((route.path, vec![route])),
            }
        }
        let mut paths = Router::new();
        for (path, routes) in by_path {
            paths.insert(path, routes)?;
        }
        Ok(Self { paths })
    }

    /// Finds the route. HEAD is answered wherever GET is; hyper leaves the body out.
    pub(crate) fn look_up<'p>(&self, method: &HttpMethod, path: &'p str) -> Lookup<'p> {
        let Ok(found) = self.paths.at(path) else { return Lookup::Missing };
        let routes = found.value;
        let wanted = match method.as_str() {
            "GET" | "HEAD" => Some(Method::Get),
            "POST" => Some(Method::Post),
            "PATCH" => Some(Method::Patch),
            "DELETE" => Some(Method::Delete),
            _ => None,
        };
        match routes.iter().find(|route| Some(route.method) == wanted) {
            Some(route) => {
                let mut values = [""; 2];
                for (slot, (_, value)) in values.iter_mut().zip(found.params.iter()) {
                    *slot = value;
                }
                Lookup::Found(route, PathParameters { values })
            }
            None => Lookup::WrongMethod(routes.iter().map(|route| route.method).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_found_under_its_own_path_and_with_its_parameters() {
        let index = RouteIndex::new().unwrap();
        for route in ROUTES {
            let path: String = route
                .path
                .split('/')
                .map(|s| if s.starts_with('{') { s.trim_matches(['{', '}']) } else { s })
                .collect::<Vec<_>>()
                .join("/");
            let method = HttpMethod::from_bytes(route.method.as_str().as_bytes()).unwrap();
            let Lookup::Found(found, params) = index.look_up(&method, &path) else {
                panic!("{} {path} is not found", route.method)
            };
            assert_eq!(found.operation, route.operation);
            let names: Vec<&str> = route.parameters().collect();
            assert!(names.len() <= 2);
            assert_eq!(params.first(), names.first().copied().unwrap_or_default());
            assert_eq!(params.second(), names.get(1).copied().unwrap_or_default());
        }
    }

    #[test]
    fn paths_match_whole_and_undecoded() {
        let index = RouteIndex::new().unwrap();
        for path in [
            "/api/health/",
            "//api/health",
            "/api//health",
            "/api/health%00",
            "/API/health",
            "/api/./health",
            "/api/tools",
            "/api/tools/",
            "/",
            "",
            "*",
            "/api/tools/live-artifacts/create/../list",
        ] {
            let found = index.look_up(&HttpMethod::GET, path);
            assert!(matches!(found, Lookup::Missing), "{path}: {found:?}");
        }
        assert!(matches!(
            index.look_up(&HttpMethod::OPTIONS, "/api/health"),
            Lookup::WrongMethod(allowed) if allowed == [Method::Get]
        ));
    }
}
