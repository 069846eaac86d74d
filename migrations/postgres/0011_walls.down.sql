DROP FUNCTION confine_to_tenant(regclass);
