from django.db import migrations

CREATE = """
CREATE FUNCTION lib_event_stays() RETURNS trigger AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.data IS NULL
       AND (to_jsonb(NEW) - 'data') = (to_jsonb(OLD) - 'data') THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'Events are only ever added (% of event %).', TG_OP, OLD.number;
END;
$$ LANGUAGE plpgsql;
CREATE TRIGGER event_stays BEFORE UPDATE OR DELETE ON lib_event
    FOR EACH ROW EXECUTE FUNCTION lib_event_stays();
"""
DROP = "DROP TRIGGER event_stays ON lib_event; DROP FUNCTION lib_event_stays();"


class Migration(migrations.Migration):
    dependencies = [("lib", "0001_events")]
    operations = [migrations.RunSQL(CREATE, DROP)]
