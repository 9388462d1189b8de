import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0006_document_decisions")]

    operations = [
        migrations.CreateModel(
            name="VidatAddress",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("token_sha256", models.CharField(max_length=64, unique=True)),
                ("expires_at", models.DateTimeField()),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                ("used_at", models.DateTimeField(blank=True, null=True)),
                ("submits", models.PositiveIntegerField(default=0)),
                ("entries", models.JSONField(blank=True, default=dict)),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="vidat_addresses",
                        to="annotation.assignment",
                    ),
                ),
            ],
            options={"ordering": ["-pk"]},
        ),
        migrations.AddConstraint(
            model_name="vidataddress",
            constraint=models.UniqueConstraint(
                condition=models.Q(("withdrawn_at", None)),
                fields=("assignment",),
                name="one_vidat_address_at_a_time",
            ),
        ),
    ]
