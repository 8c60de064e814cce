CREATE SCHEMA IF NOT EXISTS od;

CREATE TABLE od.schema_version (
    version integer PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now()
);

-- One row: the count of all changes, by which a reader knows whether anything is new, and what it was
-- when rows were last removed for good, which no reader can see by their own version. Projects are
-- counted apart: they are read whole.
CREATE TABLE od.store (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    version bigint NOT NULL,
    purged bigint NOT NULL DEFAULT 0,
    projects bigint NOT NULL DEFAULT 0
);
INSERT INTO od.store(version) VALUES (0);

CREATE TABLE od.project (
    id text PRIMARY KEY CHECK (octet_length(id) <= 128),
    name text NOT NULL,
    created_at bigint NOT NULL,
    is_removed boolean NOT NULL DEFAULT false
);

-- Which machine has the files of a project: a name of the machine, never a path.
CREATE TABLE od.project_machine (
    project text NOT NULL REFERENCES od.project(id) ON DELETE CASCADE,
    machine text NOT NULL,
    label text NOT NULL,
    PRIMARY KEY (project, machine)
);

-- The commit pointer of an artifact. deleted_at is set while it lies in the trash.
CREATE TABLE od.artifact (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project text NOT NULL REFERENCES od.project(id),
    id text NOT NULL CHECK (octet_length(id) <= 128),
    revision bigint NOT NULL,
    pointer bytea NOT NULL,
    pointer_digest text NOT NULL,
    template text NOT NULL,
    data text NOT NULL,
    provenance text NOT NULL,
    last_refresh text,
    attempt text,
    ledger text NOT NULL,
    is_open boolean NOT NULL DEFAULT false,
    log_seq bigint NOT NULL,
    log_end text,
    log_base bigint NOT NULL DEFAULT 0,
    log_base_end text,
    log_bytes bigint NOT NULL,
    deleted_at bigint,
    version bigint NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX artifact_present ON od.artifact(project, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX artifact_attempt ON od.artifact(project, attempt) WHERE attempt IS NOT NULL;
CREATE INDEX artifact_changed ON od.artifact(project, version);
CREATE INDEX artifact_version ON od.artifact(version);
CREATE INDEX artifact_id ON od.artifact(id);
CREATE INDEX artifact_open ON od.artifact(key) WHERE is_open;

-- Contents by their digest, for each artifact apart: a damaged row damages one artifact.
CREATE TABLE od.blob (
    artifact bigint NOT NULL REFERENCES od.artifact(key) ON DELETE CASCADE,
    digest text NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (artifact, digest)
);

-- The pointer of every revision whose contents are kept.
CREATE TABLE od.revision (
    artifact bigint NOT NULL REFERENCES od.artifact(key) ON DELETE CASCADE,
    revision bigint NOT NULL,
    pointer bytea NOT NULL,
    pointer_digest text NOT NULL,
    PRIMARY KEY (artifact, revision)
);

-- The timeline: a line for each commit and for each step of a refresh, each naming the digest of the one
-- before it. writer names the one write that made it, so that a lost answer can be asked for.
CREATE TABLE od.record (
    artifact bigint NOT NULL REFERENCES od.artifact(key) ON DELETE CASCADE,
    seq bigint NOT NULL,
    line bytea NOT NULL,
    is_commit boolean NOT NULL,
    writer text NOT NULL,
    PRIMARY KEY (artifact, seq)
);

-- Who runs an artifact's refresh, and until when by this server's clock.
CREATE TABLE od.lease (
    artifact bigint PRIMARY KEY REFERENCES od.artifact(key) ON DELETE CASCADE,
    refresh text NOT NULL,
    holder text NOT NULL,
    until timestamptz NOT NULL
);

-- What a repair took from an artifact.
CREATE TABLE od.aside (
    artifact bigint NOT NULL REFERENCES od.artifact(key) ON DELETE CASCADE,
    number bigint GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (artifact, number)
);
