import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("auditing", "0003_study_audit"),
        ("videos", "0004_generated_documents"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="DraftCall",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=64, unique=True)),
                ("drafter", models.CharField(max_length=200)),
                (
                    "status",
                    models.CharField(
                        choices=[("valid", "Valid"), ("invalid", "Invalid"), ("error", "No answer")],
                        max_length=8,
                    ),
                ),
                ("problem", models.CharField(blank=True, max_length=80)),
                ("model_reported", models.CharField(blank=True, max_length=200)),
                ("parser_version", models.CharField(blank=True, max_length=40)),
                ("prompt_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("completion_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("requests", models.PositiveIntegerField(default=0)),
                ("seconds", models.FloatField(default=0.0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="DraftRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("paused", "Paused"),
                            ("cancelled", "Cancelled"),
                            ("failed", "Failed"),
                            ("partial", "Partly done"),
                            ("done", "Done"),
                        ],
                        db_index=True,
                        default="queued",
                        max_length=12,
                    ),
                ),
                ("total", models.PositiveIntegerField(default=0)),
                ("done", models.PositiveIntegerField(default=0)),
                ("cached", models.PositiveIntegerField(default=0)),
                ("invalid", models.PositiveIntegerField(default=0)),
                ("failed", models.PositiveIntegerField(default=0)),
                ("prompt_tokens", models.PositiveBigIntegerField(default=0)),
                ("completion_tokens", models.PositiveBigIntegerField(default=0)),
                ("cost", models.DecimalField(blank=True, decimal_places=6, max_digits=14, null=True)),
                ("message", models.TextField(blank=True)),
                ("log", models.JSONField(default=list)),
                ("manifest", models.JSONField(default=dict)),
                ("sequence", models.PositiveBigIntegerField(default=0)),
                ("deliveries", models.PositiveSmallIntegerField(default=0)),
                ("lease_owner", models.CharField(blank=True, max_length=80)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("cancel_requested_at", models.DateTimeField(blank=True, null=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("calls", models.PositiveIntegerField(default=0)),
                ("calls_per_second", models.FloatField(blank=True, null=True)),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[("target_label", "Target label"), ("reasoning", "Reasoning")], max_length=12
                    ),
                ),
                ("asked_in", models.UUIDField(blank=True, db_index=True, null=True)),
                ("drafter", models.CharField(max_length=200)),
                ("pictures", models.PositiveSmallIntegerField(default=0)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "video_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="draft_runs",
                        to="videos.videoset",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="DraftCallAttempt",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("status", models.CharField(max_length=80)),
                ("raw_request", models.BinaryField()),
                ("raw_reply", models.BinaryField()),
                ("error", models.TextField(blank=True)),
                ("seconds", models.FloatField(default=0.0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "call",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attempts",
                        to="auditing.draftcall",
                    ),
                ),
            ],
            options={
                "ordering": ["call", "number"],
                "constraints": [
                    models.UniqueConstraint(fields=("call", "number"), name="draft_attempt_once_per_number")
                ],
            },
        ),
        migrations.CreateModel(
            name="DraftItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("cues", models.TextField(blank=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("paused", "Paused"),
                            ("cancelled", "Cancelled"),
                            ("failed", "Failed"),
                            ("partial", "Partly done"),
                            ("done", "Done"),
                        ],
                        default="queued",
                        max_length=12,
                    ),
                ),
                ("done", models.PositiveIntegerField(default=0)),
                ("cached", models.PositiveIntegerField(default=0)),
                ("invalid", models.PositiveIntegerField(default=0)),
                ("failed", models.PositiveIntegerField(default=0)),
                ("message", models.TextField(blank=True)),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="draft_items",
                        to="videos.videoquestion",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="videos.generateddocument",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="auditing.draftrun",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(fields=("run", "question"), name="question_once_per_draft_run")
                ],
            },
        ),
    ]
