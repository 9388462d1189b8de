"""Published guidelines, submissions and final decisions never change: the database itself refuses."""

from django.db import migrations

CREATE = """
CREATE FUNCTION annotation_guideline_stays() RETURNS trigger AS $$
BEGIN
    IF OLD.published_at IS NULL THEN
        IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' AND (to_jsonb(NEW) - 'created_by_id') = (to_jsonb(OLD) - 'created_by_id') THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'Version % of the guideline is published and stays as it is.', OLD.number;
END;
$$ LANGUAGE plpgsql;
CREATE TRIGGER guideline_stays BEFORE UPDATE OR DELETE ON annotation_guidelineversion
    FOR EACH ROW EXECUTE FUNCTION annotation_guideline_stays();

CREATE FUNCTION annotation_submission_stays() RETURNS trigger AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.recalled_at IS NULL
       AND (to_jsonb(NEW) - 'recalled_at') = (to_jsonb(OLD) - 'recalled_at') THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'What was submitted stays as it was.';
END;
$$ LANGUAGE plpgsql;
CREATE TRIGGER submission_stays BEFORE UPDATE OR DELETE ON annotation_submission
    FOR EACH ROW EXECUTE FUNCTION annotation_submission_stays();

CREATE FUNCTION annotation_decision_stays() RETURNS trigger AS $$
BEGIN
    IF OLD.number = 0 THEN
        IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'A final decision stays as it is; a later one is a new record.';
END;
$$ LANGUAGE plpgsql;
CREATE TRIGGER decision_stays BEFORE UPDATE OR DELETE ON annotation_adjudicationdecision
    FOR EACH ROW EXECUTE FUNCTION annotation_decision_stays();
"""
DROP = """
DROP TRIGGER decision_stays ON annotation_adjudicationdecision;
DROP FUNCTION annotation_decision_stays();
DROP TRIGGER submission_stays ON annotation_submission;
DROP FUNCTION annotation_submission_stays();
DROP TRIGGER guideline_stays ON annotation_guidelineversion;
DROP FUNCTION annotation_guideline_stays();
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0002_studies")]
    operations = [migrations.RunSQL(CREATE, DROP)]
