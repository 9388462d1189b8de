"""Addresses of people's work: studies for those who lead, cases for those who label, disagreements."""

from django.urls import URLPattern, path

from annotation.views import (
    adjudication,
    assignments,
    guidelines,
    items,
    members,
    progress,
    studies,
    vidat,
    work,
)

app_name = "annotation"
STUDY = "studies/<slug:slug>/"

urlpatterns: list[URLPattern] = [
    # Those who label.
    path("my-cases/", work.work, name="work"),
    path("my-cases/<uuid:assignment>/", work.workspace, name="workspace"),
    # VidAT, for those who label in it.
    path("vidat/<str:token>/", vidat.vidat_submit_view, name="vidat_submit"),
    # Those who decide.
    path("studies/<slug:slug>/adjudication/", adjudication.adjudication, name="adjudication"),
    path("adjudication/<uuid:item>/", adjudication.video_adjudication, name="video_adjudication"),
    # Everybody in a study.
    path("studies/", studies.study_list, name="study_list"),
    path(f"{STUDY}guideline/", guidelines.guideline, name="guideline"),
    path(f"{STUDY}guideline/read/", guidelines.guideline_read, name="guideline_read"),
    # Those who lead. "new" is no study's address.
    path("studies/new/", studies.study_create, name="study_create"),
    path(STUDY, studies.study_detail, name="study_detail"),
    path(f"{STUDY}settings/", studies.study_settings, name="study_settings"),
    path(f"{STUDY}stage/", studies.study_stage, name="study_stage"),
    path(f"{STUDY}items/", items.study_items, name="study_items"),
    path(f"{STUDY}items/add/", items.study_items_add, name="study_items_add"),
    path("items/<uuid:item>/", items.study_item, name="study_item"),
    path(f"{STUDY}people/", members.study_members, name="study_members"),
    path(f"{STUDY}guideline/edit/", guidelines.guideline_edit, name="guideline_edit"),
    path(f"{STUDY}guideline/preview/", guidelines.guideline_preview, name="guideline_preview"),
    path(f"{STUDY}assignments/", assignments.study_assignments, name="study_assignments"),
    path("assignments/<uuid:assignment>/", assignments.assignment_manage, name="assignment_manage"),
    path(f"{STUDY}events/", progress.study_events, name="study_events"),
    path(f"{STUDY}progress.csv", progress.study_progress_csv, name="study_progress_csv"),
]
