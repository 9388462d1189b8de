"""Problems that annotators report, and how much a handed-in document differs from what was proposed."""

from django.db import migrations, models

KINDS = [
    ("clip", "Wrong clip"),
    ("question", "Wrong question"),
    ("media", "Sound or picture cannot be used"),
    ("answer", "The answer seems wrong"),
    ("other", "Something else"),
]


class Migration(migrations.Migration):
    dependencies = [("annotation", "0007_vidat_addresses")]

    operations = [
        migrations.AddField(
            model_name="assignment",
            name="problem",
            field=models.CharField(blank=True, choices=KINDS, max_length=12),
        ),
        migrations.AddField(
            model_name="assignment",
            name="problem_note",
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name="assignment",
            name="problem_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="submission",
            name="effort",
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(("problem", ""), ("problem_at", None))
                | models.Q(models.Q(("problem", ""), _negated=True), ("problem_at__isnull", False)),
                name="problem_has_a_time",
            ),
        ),
    ]
