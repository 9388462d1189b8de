"""Decisions on video questions; a final one never changes: the database itself refuses."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# The function of 0003 serves both tables: it only asks for the number.
CREATE = """
CREATE TRIGGER document_decision_stays BEFORE UPDATE OR DELETE ON annotation_documentdecision
    FOR EACH ROW EXECUTE FUNCTION annotation_decision_stays();
"""
DROP = "DROP TRIGGER document_decision_stays ON annotation_documentdecision;"


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0005_video_studies"),
        ("videos", "0003_proposals"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="DocumentDecision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("number", models.PositiveSmallIntegerField(default=0)),
                ("version", models.PositiveIntegerField(default=1)),
                ("pseudonym", models.CharField(blank=True, max_length=40)),
                ("by_agreement", models.BooleanField(default=False)),
                ("note", models.TextField(blank=True)),
                ("matches", models.CharField(blank=True, max_length=26)),
                ("differences", models.JSONField(blank=True, default=list)),
                ("sides", models.JSONField(blank=True, default=dict)),
                ("content", models.JSONField(blank=True, null=True)),
                ("content_sha256", models.CharField(blank=True, max_length=64)),
                ("reason", models.TextField(blank=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "adjudicator",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions",
                        to="videos.document",
                    ),
                ),
                (
                    "guideline",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.guidelineversion",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="document_decisions",
                        to="annotation.studyitem",
                    ),
                ),
            ],
            options={"ordering": ["item", "number"]},
        ),
        migrations.AddConstraint(
            model_name="documentdecision",
            constraint=models.UniqueConstraint(
                fields=("item", "number"), name="document_decision_number_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="documentdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("number", 0),
                    models.Q(("content__isnull", False), ("decided_at__isnull", False)),
                    _connector="OR",
                ),
                name="final_document_decision_has_content",
            ),
        ),
        migrations.RunSQL(CREATE, DROP),
    ]
