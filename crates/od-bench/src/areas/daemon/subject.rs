//! The measured data directory: many artifacts, two of them with pages of known size.

use od_core::ids::ArtifactId;
use od_core::token::{Claims, CliClaims, PreviewClaims, Variant};
use od_daemon::Announcement;

use super::child::Child;
use crate::world::{Outcome, World, page, template, told};

/// Artifacts in the data directory at first.
pub(crate) const ARTIFACTS: usize = 1000;

/// One page to ask for.
pub(crate) struct Page {
    pub(crate) artifact: ArtifactId,
    pub(crate) bytes: Vec<u8>,
}

/// A data directory and its home.
pub(crate) struct Subject {
    world: World,
    pages: Vec<Page>,
}

impl Subject {
    /// Makes the data directory through the use cases.
    pub(crate) fn make() -> Outcome<Self> {
        let world = World::make()?;
        let mut pages = Vec::new();
        for (n, kib) in [3, 48].into_iter().enumerate() {
            let artifact = world.create(page(n, kib))?;
            let bytes = template(kib).replace("{{data.title}}", &n.to_string()).into_bytes();
            pages.push(Page { artifact, bytes });
        }
        world.fill(pages.len(), ARTIFACTS)?;
        Ok(Self { world: world.settled()?, pages })
    }

    /// Adds artifacts until there are so many.
    pub(crate) fn grown(self, from: usize, to: usize) -> Outcome<Self> {
        self.world.fill(from, to)?;
        Ok(Self { world: self.world.settled()?, pages: self.pages })
    }

    pub(crate) fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// Starts a daemon over the data directory in a process of its own.
    pub(crate) fn spawn(&self) -> Outcome<Child> {
        Child::spawn(self.world.path())
    }

    /// See [`person_token`].
    pub(crate) fn person_token(&self) -> Outcome<String> {
        person_token(&self.world)
    }

    /// A ticket as the daemon makes it.
    pub(crate) fn ticket(&self, page: &Page) -> Outcome<String> {
        let now = self.world.app.ports.clock.now();
        self.sign(&Claims::Preview(PreviewClaims {
            project_id: self.world.project.clone(),
            artifact_id: page.artifact.clone(),
            variant: Variant::Rendered,
            snapshot: None,
            revision: None,
            issued_at: now,
            expires_at: now.plus_ms(300_000),
        }))
    }

    fn sign(&self, claims: &Claims) -> Outcome<String> {
        self.world.app.ports.tokens.sign(claims).map_err(told)
    }
}

/// A token as the command line makes it for the daemon that runs.
pub(crate) fn person_token(world: &World) -> Outcome<String> {
    let living = Announcement::of_living_with_audience(&world.path().join("data"));
    let audience = living.and_then(|(_, audience)| audience).ok_or("no daemon runs")?;
    let now = world.app.ports.clock.now();
    let claims = CliClaims {
        token_id: "bench".parse().map_err(|_| "no token id".to_owned())?,
        audience,
        issued_at: now,
        expires_at: now.plus_ms(60_000),
    };
    world.app.ports.tokens.sign(&Claims::Cli(claims)).map_err(told)
}
