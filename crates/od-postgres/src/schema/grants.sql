-- As od_owner, after each `od store migrate`: what a member's od needs, and no more.
GRANT USAGE ON SCHEMA od TO od_member;
GRANT SELECT ON ALL TABLES IN SCHEMA od TO od_member;
GRANT INSERT, UPDATE, DELETE ON od.artifact, od.blob, od.lease, od.project_machine TO od_member;
GRANT INSERT, DELETE ON od.revision, od.record TO od_member;
GRANT INSERT ON od.aside TO od_member;
GRANT INSERT, UPDATE (name, is_removed) ON od.project TO od_member;
GRANT UPDATE (version, purged, projects) ON od.store TO od_member;
