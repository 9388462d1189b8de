"""Addresses of data sets, traces and audit runs."""

from django.urls import path

from auditing.views import (
    cases,
    datasets,
    exports,
    imports,
    judges,
    runs,
    segments,
    study_audits,
    study_files,
    study_results,
    traces,
    video_study_files,
)

app_name = "auditing"
urlpatterns = [
    path("data-sets/", datasets.dataset_list, name="dataset_list"),
    path("data-sets/<slug:slug>/", datasets.dataset_detail, name="dataset_detail"),
    path("data-sets/<slug:slug>/progress/", datasets.dataset_progress, name="dataset_progress"),
    path("data-sets/<slug:slug>/export/", exports.dataset_export, name="dataset_export"),
    path("data-sets/<slug:slug>/plan/", runs.run_plan, name="run_plan"),
    path("data-sets/<slug:slug>/run/", runs.run_start, name="run_start"),
    path("import/", imports.import_file, name="import"),
    path("import/<uuid:upload>/", imports.import_confirm, name="import_confirm"),
    path("runs/", runs.run_list, name="run_list"),
    path("runs/<int:pk>/", runs.run_detail, name="run_detail"),
    path("runs/<int:pk>/manifest/", exports.run_manifest, name="run_manifest"),
    path("data-sets/<slug:slug>/judges/plan/", judges.judge_plan, name="judge_plan"),
    path("data-sets/<slug:slug>/judges/start/", judges.judge_start, name="judge_start"),
    path("judges/", judges.judge_list, name="judge_list"),
    path("judges/<int:pk>/", judges.judge_detail, name="judge_detail"),
    path("judges/<int:pk>/manifest/", judges.judge_manifest, name="judge_manifest"),
    path("judges/<int:pk>/verdicts/", judges.judge_verdicts, name="judge_verdicts"),
    path("traces/<int:pk>/", traces.trace_detail, name="trace_detail"),
    path("traces/<int:pk>/segments/", segments.trace_segments, name="trace_segments"),
    path("cases/<int:pk>/answer/", cases.case_answer, name="case_answer"),
    path("studies/<slug:slug>/audit/", study_audits.study_audit, name="study_audit"),
    path("studies/import/", study_files.study_import, name="study_import"),
    path("studies/import/<uuid:upload>/", study_files.study_import_confirm, name="study_import_confirm"),
    path("studies/<slug:slug>/export/", study_files.study_export, name="study_export"),
    path("studies/<slug:slug>/export/make/", video_study_files.study_export_make, name="study_export_make"),
    path(
        "studies/<slug:slug>/export/<uuid:prepared_id>/",
        video_study_files.study_export_ready,
        name="study_export_ready",
    ),
    path(
        "studies/<slug:slug>/export/<uuid:prepared_id>/file/",
        video_study_files.study_export_file,
        name="study_export_file",
    ),
    path("studies/<slug:slug>/results/", study_results.results_page, name="study_results"),
    path("studies/<slug:slug>/results/method/", study_results.method_page, name="study_results_method"),
]
