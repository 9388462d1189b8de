"""Addresses of data sets, traces and audit runs."""

from django.urls import path

from auditing.views import cases, datasets, exports, imports, runs, segments, traces

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
    path("traces/<int:pk>/", traces.trace_detail, name="trace_detail"),
    path("traces/<int:pk>/segments/", segments.trace_segments, name="trace_segments"),
    path("cases/<int:pk>/answer/", cases.case_answer, name="case_answer"),
]
