-- Once, by whoever administers the server, in the team's database.
CREATE ROLE od_owner LOGIN;
CREATE ROLE od_member NOLOGIN;
DO $$ BEGIN
    EXECUTE format('GRANT CREATE ON DATABASE %I TO od_owner', current_database());
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO od_owner, od_member', current_database());
END $$;
